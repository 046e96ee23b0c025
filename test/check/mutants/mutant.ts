/** What a mutant is made of: the correct server with one defect. And what several of them need. */

import type { RuleId } from '../../../src/check/index.ts'
import { CorrectServer, type Links, numberedItems, type ServerOptions } from '../correct-server.ts'

/** Replaces some steps of the server. `right` takes those steps as the correct server does, `server` as the mutant does. */
export type Change = (right: CorrectServer, server: CorrectServer) => Partial<CorrectServer>

interface Extras {
  /** Short for `options` with this many items. */
  readonly items?: number
  /** What it serves. Default: 1001 items, so that there is a first page, a middle and a last one. */
  readonly options?: ServerOptions
  /** Whether all pages have to be read to find it. Default: false. */
  readonly isWalk?: boolean
  /** Whether what it does is legal, and only odd: the rule then warns, whatever its kind. Default: false. */
  readonly isDoubt?: boolean
}

export interface Mutant extends Extras {
  readonly name: string
  /** What is wrong with it, in one sentence. */
  readonly defect: string
  /** The rule that is made for this defect. */
  readonly caughtBy: RuleId
  /** The rules that the same defect breaks as well, by the text of the contract. */
  readonly also: readonly RuleId[]
  readonly create: () => CorrectServer
}

/** The rule that is made for the defect, then those that it breaks as well. */
type Rules = readonly [RuleId, ...RuleId[]]

export function mutant(
  name: string,
  defect: string,
  expected: Rules | (Extras & { readonly rules: Rules }),
  change: Change,
): Mutant {
  const { rules, items, ...extras } = 'rules' in expected ? expected : { rules: expected }
  const [caughtBy, ...also] = rules
  const create = () => {
    const server = new CorrectServer({ ...extras.options, ...(items !== undefined && { items }) })
    return Object.assign(server, change(unchanged(server), server))
  }
  return { name, defect, caughtBy, also, create, ...extras }
}

/** The data of a server with the methods of the correct one, as `super` would call them. */
function unchanged(server: CorrectServer): CorrectServer {
  const methods: object = CorrectServer.prototype
  return new Proxy(server, {
    get: (target, name) => {
      const method: unknown = Reflect.get(methods, name)
      return typeof method === 'function' ? method.bind(target) : Reflect.get(target, name)
    },
  })
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

export function without<Value>(fields: Readonly<Record<string, Value>>, name: string): Record<string, Value> {
  return Object.fromEntries(Object.entries(fields).filter(([each]) => each !== name))
}

/** Another item at the end. */
export function grow(server: CorrectServer): void {
  server.items = [...server.items, ...numberedItems(1, server.items.length + 1)]
}
