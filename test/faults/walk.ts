/** Pages of a collection as a client reads them. */

import { PAGE_SIZE } from '../../src/contract/page.ts'
import type { Answer, Connection } from './connection.ts'
import type { Findings } from './report.ts'

export interface Page {
  readonly itemCount: number
  /** Items as they were sent: nothing in them changes between JSON.parse and JSON.stringify. */
  readonly texts: readonly string[]
  readonly number: number
  readonly next: string | undefined
  /** By its relation, where each link leads. */
  readonly links: ReadonlyMap<string, string>
}

/** Also checks that the page holds as many items as its own count says. */
export function readPage({ body }: Pick<Answer, 'body'>, name: string, findings: Findings): Page {
  const { item_count: itemCount, _links: links, _embedded: embedded } = JSON.parse(body)
  const texts: string[] = embedded[name].map((item: unknown) => JSON.stringify(item))
  const number = Number(new URL(links.self.href).searchParams.get('page') ?? 1)
  const due = Math.min(PAGE_SIZE, itemCount - (number - 1) * PAGE_SIZE)
  if (texts.length !== due)
    findings.add('other', `page ${number} of "${name}" holds ${texts.length} items, and by its count ${due}`)
  const hrefs = new Map(Object.keys(links).map((relation) => [relation, String(links[relation].href)]))
  return { itemCount, texts, number, next: hrefs.get('next'), links: hrefs }
}

/** All items, while nobody writes. */
export async function walk(connection: Connection, name: string, findings: Findings): Promise<string[]> {
  const texts: string[] = []
  for (let path: string | undefined = `/${name}`; path !== undefined; ) {
    const answer = await connection.get(path)
    if (answer.status !== 200) {
      findings.add('other', `GET ${path} answers ${answer.status}: ${answer.body}`)
      return texts
    }
    const page: Page = readPage(answer, name, findings)
    texts.push(...page.texts)
    path = page.next
    if (path === undefined && page.itemCount !== texts.length)
      findings.add('other', `"${name}" has item_count ${page.itemCount}, and a walk finds ${texts.length} items`)
  }
  return texts
}
