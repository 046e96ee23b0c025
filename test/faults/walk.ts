/** Pages of a collection as a client reads them. */

import { ITEM_SEPARATOR } from '../../src/contract/envelope.ts'
import { PAGE_SIZE } from '../../src/contract/page.ts'
import { type Connection, WrongAnswer } from './connection.ts'
import type { Findings } from './report.ts'

export interface Page {
  readonly itemCount: number
  /** Items as they were sent: each stands on a line of its own. */
  readonly texts: readonly string[]
  readonly number: number
  /** By its relation, the path to which each link leads. */
  readonly links: ReadonlyMap<string, string>
}

/** Also checks that the page holds as many items as its own count says. */
export function readPage(body: string, findings: Findings): Page {
  const { item_count: itemCount, _links: links, _embedded: embedded } = JSON.parse(body)
  const [items = []] = Object.values<unknown[]>(embedded)
  const lines = body.slice(body.indexOf('[\n') + 2, body.lastIndexOf('\n]'))
  const texts = items.length === 0 ? [] : lines.split(ITEM_SEPARATOR)
  const self = new URL(links.self.href)
  const number = Number(self.searchParams.get('page') ?? 1)
  const due = Math.min(PAGE_SIZE, itemCount - (number - 1) * PAGE_SIZE)
  if (texts.length !== due) findings.add('other', `${self} holds ${texts.length} items, and by its count ${due}`)
  const paths = Object.keys(links).map((relation): [string, string] => {
    const { pathname, search } = new URL(links[relation].href)
    return [relation, pathname + search]
  })
  return { itemCount, texts, number, links: new Map(paths) }
}

export function linkOf({ links }: Page, relation: string): string {
  const path = links.get(relation)
  if (path === undefined) throw new WrongAnswer(`${links.get('self')} does not link "${relation}"`)
  return path
}

/** All pages from a path on, by their links. */
export async function readPages(
  path: string,
  get: (path: string) => Promise<string>,
  findings: Findings,
): Promise<[Page, ...Page[]]> {
  const pages: [Page, ...Page[]] = [readPage(await get(path), findings)]
  for (let next = pages[0].links.get('next'); next !== undefined; next = pages.at(-1)?.links.get('next'))
    pages.push(readPage(await get(next), findings))
  return pages
}

/** The items of pages that are all of one state: as many as each of the pages says. */
export function textsOf(pages: readonly [Page, ...Page[]], findings: Findings): string[] {
  const texts = pages.flatMap((page) => page.texts)
  const counts = new Set(pages.map(({ itemCount }) => itemCount))
  if (counts.size > 1 || !counts.has(texts.length)) {
    const [first] = pages
    findings.add('partial', `${linkOf(first, 'self')} has ${texts.length} items, by its pages ${[...counts]}`)
  }
  return texts
}

/** All items, while nobody writes. */
export async function walk(connection: Connection, name: string, findings: Findings): Promise<string[]> {
  try {
    return textsOf(await readPages(`/${name}`, (path) => connection.read(path), findings), findings)
  } catch (error) {
    if (!(error instanceof WrongAnswer)) throw error
    findings.add('other', error.message)
    return []
  }
}
