/** A store with rows of every kind, and what it answers while it is sound: what a flipped bit is to be compared with. */

import { hash } from 'node:crypto'
import { copyFileSync } from 'node:fs'
import { TOKEN_PREFIX } from '../../src/contract/scope.ts'
import { itemRun } from '../../src/items/item-run.ts'
import { createService } from '../../src/service/create-service.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { CollectionSettings, Store, TokenRecord } from '../../src/store/store.ts'
import { StoreError } from '../../src/store/store-error.ts'

const BASE = 'http://127.0.0.1:8080'

export interface Question {
  readonly path: string
  readonly method?: string
  readonly body?: string
  readonly headers: Readonly<Record<string, string>>
  /** What the answer depends on; '' for all collections at once. */
  readonly collection: string
}

export interface Answer {
  readonly status: number
  readonly body: Buffer
}

/** Asks a service on that store; `cacheBytes` is 0, so that each answer is read. */
export type Ask = (question: Question) => Promise<Answer>

export function asking(store: Store): Ask {
  const { fetch } = createService({ store, cacheBytes: 0, onError: () => {} })
  return async ({ path, method = 'GET', body, headers }) => {
    const response = await fetch(new Request(BASE + path, { method, headers, ...(body !== undefined && { body }) }))
    return { status: response.status, body: Buffer.from(await response.arrayBuffer()) }
  }
}

const tokenOf = (letter: string): string => TOKEN_PREFIX + letter.repeat(43)
const bearer = (letter: string) => ({ Authorization: `Bearer ${tokenOf(letter)}` })

const READER = bearer('r')
const WRITER = bearer('w')
/** A revoked one, and one that nobody ever had. */
const OTHERS = [bearer('x'), bearer('n')]

function tokenRecord(name: string, letter: string, scopes: readonly string[], revokedAt: number | null): TokenRecord {
  return { name, hash: hash('sha256', tokenOf(letter)), scopes, createdAt: 1, expiresAt: null, revokedAt }
}

function numbersBelow(end: number, step: number): number[] {
  return Array.from({ length: Math.ceil(end / step) }, (_, index) => index * step)
}

const keyOf = (id: number): string => `key ${id}`

function itemsOf(count: number, first = 0): string[] {
  const words = 'Flüsse führen Kieselsteine von weit her, 1.10 € das Stück.'
  return Array.from({ length: count }, (_, index) => {
    const id = first + index
    return `{"id":"${keyOf(id)}","n":${id * 7919},"text":"${words.slice(0, 5 + ((id * 31) % words.length))}"}`
  })
}

interface Sample {
  readonly name: string
  readonly settings: Partial<CollectionSettings>
  readonly pages: number
  /** How many items there are, or were; with keys or without. */
  readonly count: number
  /** What happens to it when it is filled. */
  readonly change?: (store: Store) => Promise<unknown>
  /** One request that changes it: what it does, to which key, with which body. */
  readonly write: readonly [method: string, key: string, body?: string]
}

/** Some of a collection's keys are asked for, and some that it never had. */
const KEY_STEP = 97
const KEYS_BEYOND = 300

/** Collections of which there is nothing but the head. */
const EMPTY = Array.from({ length: 40 }, (_, index) => `empty-${index}`)

const KEYED = { keyField: 'id' }
const GONE = numbersBelow(2_700, 1).filter((id) => id % 11 === 0 || (id >= 1_000 && id < 1_500))

async function swapItems(store: Store): Promise<void> {
  const load = await store.load('replaced', { isReplacement: true })
  await load.append(itemRun(itemsOf(1_200), KEYED))
  await load.commit()
}

/** The two appends seal the tail. */
const SAMPLES: readonly Sample[] = [
  { name: 'plain', settings: {}, pages: 5, count: 2_300, write: ['POST', '', itemsOf(250, 9_000).join('\n')] },
  { name: 'keyed', settings: KEYED, pages: 7, count: 3_400, write: ['PUT', 'key 77', '{"id":"key 77","n":0}'] },
  {
    name: 'holes',
    settings: KEYED,
    pages: 4,
    count: 2_700,
    change: (store) => store.delete('holes', GONE.map(keyOf)),
    write: ['DELETE', 'key 2020'],
  },
  {
    name: 'whole',
    settings: { ...KEYED, isPaginated: false },
    pages: 1,
    count: 700,
    write: ['PUT', 'key 650', '{"id":"key 650","n":0}'],
  },
  {
    name: 'replaced',
    settings: KEYED,
    pages: 3,
    count: 1_200,
    change: swapItems,
    write: ['POST', '', itemsOf(350, 9_000).join('\n')],
  },
  { name: 'secret', settings: { ...KEYED, isPrivate: true }, pages: 2, count: 600, write: ['DELETE', 'key 555'] },
]

export const WRITES: readonly Question[] = SAMPLES.map(({ name, write: [method, key, body] }) => ({
  method,
  path: `/${name}${key && `/${encodeURIComponent(key)}`}`,
  ...(body !== undefined && { body }),
  headers: { ...WRITER, 'Content-Type': method === 'POST' ? 'application/x-ndjson' : 'application/json' },
  collection: name,
}))

export const QUESTIONS: readonly Question[] = [
  ...SAMPLES.flatMap(({ name, settings, pages, count }) => {
    const callers = settings.isPrivate === true ? [{}, READER] : [{}]
    const paths = Array.from({ length: pages }, (_, index) => `/${name}?page=${index + 1}`)
    return callers.flatMap((caller) => [
      ...paths.flatMap((path) => [
        { path, headers: caller, collection: name },
        { path, headers: { ...caller, 'Accept-Encoding': 'gzip' }, collection: name },
      ]),
      ...numbersBelow(settings.keyField === undefined ? 0 : count + KEYS_BEYOND, KEY_STEP).map((key) => ({
        path: `/${name}/key%20${key}`,
        headers: caller,
        collection: name,
      })),
    ])
  }),
  { path: '/', headers: {}, collection: '' },
  { path: '/', headers: READER, collection: '' },
  ...OTHERS.map((headers) => ({ path: '/plain', headers, collection: 'plain' })),
  ...EMPTY.map((name) => ({ path: `/${name}`, headers: {}, collection: name })),
  ...['a', 'hole', 'holf', 'n', 'zz'].map((name) => ({ path: `/${name}`, headers: {}, collection: '' })),
]

/** Whether somebody who may not read it asks for a private collection. */
export function hasNoScope({ headers, collection }: Question): boolean {
  return collection === 'secret' && headers['Authorization'] === undefined
}

export async function makeStore(path: string): Promise<void> {
  const store = await openSqliteStore({ path, create: true })
  for (const { name, settings, count, change } of SAMPLES) {
    await store.create(name, settings)
    await store.append(name, itemRun(itemsOf(count), settings))
    await change?.(store)
  }
  for (const name of EMPTY) await store.create(name)
  await store.addToken(tokenRecord('reader', 'r', ['read:*'], null))
  await store.addToken(tokenRecord('writer', 'w', ['read:*', 'write:*'], null))
  await store.addToken(tokenRecord('gone', 'x', ['admin'], 2))
  await store.close()
}

/** By its path, the text of every item that has a key or had one: null for none, undefined where the store is damaged. */
export async function askForKeys(store: Store): Promise<Map<string, string | null | undefined>> {
  const texts = new Map<string, string | null | undefined>()
  for (const { name, settings, count } of SAMPLES)
    for (const key of numbersBelow(settings.keyField === undefined ? 0 : count, 1).map(keyOf))
      texts.set(`${name}/${key}`, await textOf(store, name, key))
  return texts
}

async function textOf(store: Store, name: string, key: string): Promise<string | null | undefined> {
  try {
    const read = await store.item(name, key)
    return read?.item === undefined ? null : Buffer.from(read.item.text).toString()
  } catch (error) {
    if (error instanceof StoreError && error.code === 'corrupt') return undefined
    throw error
  }
}

export async function askAll(ask: Ask): Promise<Answer[]> {
  const answers: Answer[] = []
  for (const question of QUESTIONS) answers.push(await ask(question))
  return answers
}

/** What a sound store answers, before and after the writes. */
export interface SoundAnswers {
  readonly before: readonly Answer[]
  readonly after: readonly Answer[]
  /** Before the writes. */
  readonly texts: ReadonlyMap<string, string | null | undefined>
}

export async function soundAnswers(path: string, copy: string): Promise<SoundAnswers> {
  copyFileSync(path, copy)
  const store = await openSqliteStore({ path: copy })
  const ask = asking(store)
  const before = await askAll(ask)
  const texts = await askForKeys(store)
  for (const write of WRITES) {
    const { status, body } = await ask(write)
    if (status >= 300) throw new Error(`${write.method} ${write.path} was answered ${status}: ${body}`)
  }
  const after = await askAll(ask)
  await store.close()
  return { before, after, texts }
}
