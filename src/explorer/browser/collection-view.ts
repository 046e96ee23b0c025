/** A collection: one of its pages as a table, ways to the others, and an item beside it. */

import type { Page } from '../../client/page.ts'
import { collectionUrl, pageUrl, rawUrl } from '../../contract/link.ts'
import { beside } from './beside.ts'
import { codePopover } from './code.ts'
import type { Child } from './element.ts'
import { count, counted } from './figures.ts'
import { notice } from './notice.ts'
import { pager } from './pager.ts'
import type { Session } from './session.ts'
import { heading, rawLink, type View } from './views.ts'

export interface CollectionPlace {
  readonly name: string
  readonly page: number
  /** The button that downloads all of it. */
  readonly download: readonly Child[]
  /** Leads to another address. */
  readonly go: (url: string) => void
}

export async function collectionView(
  session: Session,
  { name, page: asked, download, go }: CollectionPlace,
  signal: AbortSignal,
): Promise<View> {
  const page = await session.collection(name).page(asked, { signal })
  const { isPaginated, number, itemCount } = page
  const urlIn = (base: string) => (isPaginated ? pageUrl(base, name, number) : collectionUrl(base, name))
  const place = isPaginated ? `page ${count(number)} of ${count(page.lastPage)}` : 'not paginated'
  const actions = [
    ...rawLink(session, urlIn(rawUrl(session.root))),
    ...codeFor(session, name, page, urlIn),
    ...download,
  ]
  const content = [heading(name, [counted(itemCount, 'item'), place, session.lastAnswer], actions)]
  if (isPaginated) {
    const hrefOf = (relation: string) => linkOf(page, relation, session)
    content.push(pager(page, hrefOf, (target) => go(pageUrl(session.root, name, target))))
  }
  const empty = () => notice('No items yet', 'The collection is there, and it is empty.')
  content.push(itemCount === 0 ? empty() : beside(session, name, page, urlIn(session.baseUrl)))
  return { title: isPaginated && number > 1 ? `${name}, page ${number}` : name, content }
}

function linkOf({ links }: Page, relation: string, session: Session): string | undefined {
  const { href } = (links[relation] ?? {}) as { href?: string }
  return href && session.local(href)
}

function codeFor(session: Session, name: string, { number }: Page, urlIn: (base: string) => string): Child[] {
  const baseUrl = session.baseUrl.replaceAll("'", '%27')
  return codePopover(
    session,
    urlIn(baseUrl),
    ({ options }) => `import { createClient } from 'reams/client'

const client = createClient('${baseUrl}'${options})
const page = await client.collection('${name}').page(${number})
console.log(page.itemCount, page.items)

// All items of all pages:
const items = client.collection('${name}').items()
for await (const item of items) console.log(item)`,
  )
}
