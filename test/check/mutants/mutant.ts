/** What an entry in the table of mutants is made of, and what several of them need. */

import type { RuleId } from '../../../src/check/index.ts'
import { type CorrectServer, type Links, numberedItems, type ServerOptions } from '../correct-server.ts'

export interface Mutant {
  readonly name: string
  /** What is wrong with it, in one sentence. */
  readonly defect: string
  /** The rule that is made for this defect. */
  readonly caughtBy: RuleId
  /** The rules that the same defect breaks as well, by the text of the contract. */
  readonly also?: readonly RuleId[]
  /** What it serves. Default: 1001 items, so that there is a first page, a middle and a last one. */
  readonly options?: ServerOptions
  /** Whether all pages have to be read to find it. Default: false. */
  readonly isWalk?: boolean
  /** Whether what it does is legal, and only odd: the rule then warns, whatever its kind. Default: false. */
  readonly isDoubt?: boolean
  readonly Server: new (options: ServerOptions) => CorrectServer
}

/** Changes the four links that C4 and C5 are about, and no other. */
export function mapPageLinks(links: Links, change: (href: string, relation: string) => unknown): Links {
  const entries = Object.entries(links).map(([relation, link]) => {
    const isPageLink = ['first', 'prev', 'next', 'last'].includes(relation)
    return [relation, isPageLink ? change(hrefOf(link), relation) : link]
  })
  return Object.fromEntries(entries)
}

function hrefOf(link: unknown): string {
  return typeof link === 'object' && link !== null && 'href' in link ? String(link.href) : ''
}

export function without(fields: Links, name: string): Links {
  return Object.fromEntries(Object.entries(fields).filter(([each]) => each !== name))
}

/** Another item at the end. */
export function grow(server: CorrectServer): void {
  server.items = [...server.items, ...numberedItems(1, server.items.length + 1)]
}
