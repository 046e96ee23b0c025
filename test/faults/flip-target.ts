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

function itemsOf(count: number, first = 0): string[] {
  const words = 'Flüsse führen Kieselsteine von weit her, 1.10 € das Stück.'
  return Array.from({ length: count }, (_, index) => {
    const id = first + index
    return `{"id":"key ${id}","n":${id * 7919},"text":"${words.slice(0, 5 + ((id * 31) % words.length))}"}`
  })
}

interface Sample {
  readonly name: string
  readonly settings: Partial<CollectionSettings>
  readonly pages: number
  /** How many keys there are, or were. */
  readonly keys: number
  fill(store: Store): Promise<void>
  /** One request that changes it. */
  readonly write: Omit<Question, 'collection' | 'headers'>
}

/** Some of a collection's keys are asked for, and some that it never had. */
const KEY_STEP = 97
const KEYS_BEYOND = 300

/** Collections of which there is nothing but the head. */
const EMPTY = Array.from({ length: 40 }, (_, index) => `empty-${index}`)

const KEYED = { keyField: 'id' }
const JSON_LINES = (texts: readonly string[]): string => texts.join('\n')

async function append(store: Store, name: string, count: number, keyField: string | null, first = 0): Promise<void> {
  await store.append(name, itemRun(itemsOf(count, first), { keyField }))
}

const SAMPLES: readonly Sample[] = [
  {
    name: 'plain',
    settings: {},
    pages: 5,
    keys: 0,
    fill: (store) => append(store, 'plain', 2_300, null),
    // Seals the tail.
    write: { method: 'POST', path: '/plain', body: JSON_LINES(itemsOf(250, 9_000)) },
  },
  {
    name: 'keyed',
    settings: KEYED,
    pages: 7,
    keys: 3_400,
    fill: (store) => append(store, 'keyed', 3_400, 'id'),
    write: { method: 'PUT', path: '/keyed/key%2077', body: '{"id":"key 77","n":0}' },
  },
  {
    name: 'holes',
    settings: KEYED,
    pages: 4,
    keys: 2_700,
    async fill(store) {
      await append(store, 'holes', 2_700, 'id')
      const gone = Array.from({ length: 2_700 }, (_, id) => id).filter(
        (id) => id % 11 === 0 || (id >= 1_000 && id < 1_500),
      )
      await store.delete(
        'holes',
        gone.map((id) => `key ${id}`),
      )
    },
    write: { method: 'DELETE', path: '/holes/key%202020' },
  },
  {
    name: 'whole',
    settings: { ...KEYED, isPaginated: false },
    pages: 1,
    keys: 700,
    fill: (store) => append(store, 'whole', 700, 'id'),
    write: { method: 'PUT', path: '/whole/key%20650', body: '{"id":"key 650","n":0}' },
  },
  {
    name: 'replaced',
    settings: KEYED,
    pages: 3,
    keys: 1_200,
    async fill(store) {
      await append(store, 'replaced', 10, 'id')
      const load = await store.load('replaced', { isReplacement: true })
      await load.append(itemRun(itemsOf(1_200), KEYED))
      await load.commit()
    },
    // Seals the tail too, with keys.
    write: { method: 'POST', path: '/replaced', body: JSON_LINES(itemsOf(350, 9_000)) },
  },
  {
    name: 'secret',
    settings: { ...KEYED, isPrivate: true },
    pages: 2,
    keys: 600,
    fill: (store) => append(store, 'secret', 600, 'id'),
    write: { method: 'DELETE', path: '/secret/key%20555' },
  },
]

export const WRITES: readonly Question[] = SAMPLES.map(({ name, write }) => ({
  ...write,
  headers: { ...WRITER, 'Content-Type': write.method === 'POST' ? 'application/x-ndjson' : 'application/json' },
  collection: name,
}))

export const QUESTIONS: readonly Question[] = [
  ...SAMPLES.flatMap(({ name, settings, pages, keys }) => {
    const callers = settings.isPrivate === true ? [{}, READER] : [{}]
    const paths = Array.from({ length: pages }, (_, index) => `/${name}?page=${index + 1}`)
    return callers.flatMap((caller) => [
      ...paths.flatMap((path) => [
        { path, headers: caller, collection: name },
        { path, headers: { ...caller, 'Accept-Encoding': 'gzip' }, collection: name },
      ]),
      ...numbersBelow(keys === 0 ? 0 : keys + KEYS_BEYOND, KEY_STEP).map((key) => ({
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
  for (const { name, settings, fill } of SAMPLES) {
    await store.create(name, settings)
    await fill(store)
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
  for (const { name, keys } of SAMPLES)
    for (const key of numbersBelow(keys, 1).map((number) => `key ${number}`))
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
