/** The envelope around the items: the text before them and the text after them. The items themselves pass untouched. */

import { collectionUrl, type HistoryLinks, type PageLinks, pageLinks } from './link.ts'

/** Goes into every ETag: raise it when the bytes of an envelope change for the same data (D16). */
export const ENVELOPE_FORMAT = 2

/** Between two items. Each item stands on a line of its own (D9). */
export const ITEM_SEPARATOR = ',\n'

/** What follows the last item, in every collection. */
export const ENVELOPE_TAIL = '\n]}}\n'

/** What an envelope says beside its page. */
export interface EnvelopeExtras {
  /** Stands for the name in the links: the path of a snapshot, or of changes. Default: the name. */
  readonly path?: string
  readonly links?: HistoryLinks
}

/** Everything before the items of a page of a paginated collection (C1, C2). */
export function pageEnvelopeHead(
  baseUrl: string,
  name: string,
  page: number,
  itemCount: number,
  { path = name, links: further }: EnvelopeExtras = {},
): string {
  const links = linksText({ ...pageLinks(baseUrl, path, page, itemCount), ...further })
  return `{"item_count":${itemCount},"_links":${links},"_embedded":{"${name}":[\n`
}

/** Everything before the items of an unpaginated collection (D10). */
export function wholeEnvelopeHead(baseUrl: string, name: string): string {
  const links = linksText({ self: { href: collectionUrl(baseUrl, name) } })
  return `{"_links":${links},"_embedded":{"${name}":[\n`
}

/** In the order in which they are written. */
const RELATIONS = ['self', 'first', 'prev', 'next', 'last', 'snapshot', 'changes', 'latest-version'] as const

/** As JSON, without a look at each character: what begins with a normalized base URL holds none that JSON writes in another way. */
function linksText(links: Partial<PageLinks & HistoryLinks>): string {
  let text = ''
  for (const relation of RELATIONS) {
    const href = links[relation]?.href
    if (href !== undefined) text += `${text && ','}"${relation}":{"href":"${href}"}`
  }
  return `{${text}}`
}
