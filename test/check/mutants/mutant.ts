/** What a mutant is made of: the correct server with one defect. And what several of them need. */

import type { RuleId } from '../../../src/check/index.ts'
import { type Answered, CorrectServer, type Links, numberedItems, type ServerOptions } from '../correct-server.ts'

/** Replaces some steps of the server. `right` takes those steps as the correct server does. */
export type StepsOf = (right: CorrectServer) => Partial<CorrectServer>

/** For each step, what a mutant makes of its right outcome; the parameters of the step and `right` follow. */
export type Spoilt = {
  [Step in keyof CorrectServer]?: CorrectServer[Step] extends (...words: infer Words) => infer Outcome
    ? (outcome: Outcome, ...more: [...Words, CorrectServer]) => Outcome
    : never
}

interface Extras {
  /** Whether all pages have to be read to find it. Default: false. */
  readonly isWalk?: boolean
  /** Whether what it does is legal, and only odd: the rule then warns, whatever its kind. Default: false. */
  readonly isDoubt?: boolean
}

export interface Mutant extends Extras {
  /** What is wrong with it, in one sentence. */
  readonly defect: string
  /** The rule that is made for this defect. */
  readonly caughtBy: RuleId
  /** The rules that the same defect breaks as well, by the text of the contract. */
  readonly also: readonly RuleId[]
  readonly create: () => CorrectServer
}

/** The rule that is made for the defect, and behind it those that it breaks as well. */
type Maker = (defect: string, rules: RuleId | readonly [RuleId, ...RuleId[]], change: StepsOf | Spoilt) => Mutant

export function mutantOf(serves: ServerOptions, extras: Extras = {}): Maker {
  return (defect, rules, change) => {
    const [caughtBy, ...also] = typeof rules === 'string' ? ([rules] as const) : rules
    return { defect, caughtBy, also, create: () => spoiltServer(serves, change), ...extras }
  }
}

/** A correct server with some steps replaced. */
export function spoiltServer(serves: ServerOptions, change: StepsOf | Spoilt): CorrectServer {
  const server = new CorrectServer(serves)
  const right = unchanged(server)
  return Object.assign(server, typeof change === 'function' ? change(right) : spoil(right, change))
}

/** Has a first page, a middle and a last one. */
export const mutant = mutantOf({ items: 1001 })
export const emptyMutant = mutantOf({ items: 0 })
export const unpaginatedMutant = mutantOf({ items: 40, isPaginated: false })
/** Has 50 pages, of which most are only read with `--walk`. */
export const longMutant = mutantOf({ items: 25_000 }, { isWalk: true })

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

function spoil(right: CorrectServer, change: Spoilt): Partial<CorrectServer> {
  const steps = Object.entries(change) as [keyof CorrectServer, (...words: unknown[]) => unknown][]
  return Object.fromEntries(
    steps.map(([name, spoilt]) => {
      const step = right[name] as (...words: unknown[]) => unknown
      return [name, (...words: unknown[]) => spoilt(step(...words), ...words, right)]
    }),
  )
}

/** Changes the four links that C4 and C5 are about, and no other. */
export function mapPageLinks(links: Links, change: (href: string, relation: string) => unknown): Links {
  const entries = Object.entries(links).map(([relation, link]) => {
    const isPageLink = ['first', 'prev', 'next', 'last'].includes(relation)
    return [relation, isPageLink ? change((link as { href: string }).href, relation) : link]
  })
  return Object.fromEntries(entries)
}

export function without<Value>(fields: Readonly<Record<string, Value>>, name: string): Record<string, Value> {
  return Object.fromEntries(Object.entries(fields).filter(([each]) => each !== name))
}

/** Another item at the end. */
export function grow(server: CorrectServer): void {
  server.items = [...server.items, ...numberedItems(1, server.items.length + 1)]
}

export function redirect(status: number, Location: string): Answered {
  return { status, headers: { Location }, body: Buffer.alloc(0) }
}
