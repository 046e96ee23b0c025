/** A store with rows of every kind, and what it answers while it is sound: what a flipped bit is to be compared with. */

import { hash } from 'node:crypto'
import { copyFileSync } from 'node:fs'
import { itemRun } from '../../src/items/item-run.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { CollectionSettings, Store, TokenRecord } from '../../src/store/store.ts'
import { StoreError } from '../../src/store/store-error.ts'

const KEYED = { keyField: 'id' }

/** Some of a collection's keys are asked for, and some that it never had. */
const KEY_STEP = 97
const KEYS_BEYOND = 300

/** Collections of which there is nothing but the head, and names that no collection has. */
const EMPTY = Array.from({ length: 40 }, (_, index) => `empty-${index}`)
const NO_NAMES = ['a', 'hole', 'holf', 'n', 'zz']

const TOKENS: readonly TokenRecord[] = [
  { name: 'reader', hash: 'aa', scopes: ['read:*'], createdAt: 1, expiresAt: null, revokedAt: null },
  { name: 'writer', hash: 'bb', scopes: ['read:*', 'write:*'], createdAt: 1, expiresAt: null, revokedAt: null },
  { name: 'gone', hash: 'cc', scopes: ['admin'], createdAt: 1, expiresAt: null, revokedAt: 2 },
]

function itemsOf(count: number, first = 0): string[] {
  const words = 'Flüsse führen Kieselsteine von weit her, 1.10 € das Stück.'
  return Array.from({ length: count }, (_, index) => {
    const id = first + index
    return `{"id":"${keyOf(id)}","n":${id * 7919},"text":"${words.slice(0, 5 + ((id * 31) % words.length))}"}`
  })
}

const keyOf = (id: number): string => `key ${id}`
const keysBelow = (end: number, step = 1): string[] =>
  Array.from({ length: Math.ceil(end / step) }, (_, index) => keyOf(index * step))
const changed = (id: number) => itemRun([`{"id":"${keyOf(id)}","n":0}`], KEYED)

interface Sample {
  readonly name: string
  readonly settings: Partial<CollectionSettings>
  readonly pages: number
  /** How many items there are, or were. */
  readonly count: number
  /** What happens to it when it is filled. */
  change?(store: Store): Promise<unknown>
  /** One change more. */
  write(store: Store): Promise<unknown>
}

/** Each has a tail: no count is a multiple of the size of a quire. */
const SAMPLES: readonly Sample[] = [
  {
    ...{ name: 'plain', settings: {}, pages: 5, count: 2_330 },
    // Closes the tail.
    write: (store) => store.append('plain', itemRun(itemsOf(250, 9_000))),
  },
  {
    ...{ name: 'keyed', settings: KEYED, pages: 7, count: 3_430 },
    write: (store) => store.put('keyed', changed(77)),
  },
  {
    ...{ name: 'holes', settings: KEYED, pages: 5, count: 2_730 },
    change: (store) => store.delete('holes', [...keysBelow(1_000, 11), ...keysBelow(1_500).slice(1_000)]),
    write: (store) => store.remove('holes', keyOf(2020)),
  },
  {
    ...{ name: 'whole', settings: { ...KEYED, isPaginated: false }, pages: 1, count: 730 },
    write: (store) => store.put('whole', changed(715)),
  },
  {
    ...{ name: 'replaced', settings: KEYED, pages: 3, count: 1_230 },
    async change(store) {
      const load = await store.load('replaced', { isReplacement: true })
      await load.append(itemRun(itemsOf(1_230), KEYED))
      await load.commit()
    },
    // Closes the tail too, with keys.
    write: (store) => store.append('replaced', itemRun(itemsOf(350, 9_000), KEYED)),
  },
  {
    ...{ name: 'secret', settings: { ...KEYED, isPrivate: true }, pages: 2, count: 630 },
    write: (store) => store.remove('secret', keyOf(628)),
  },
]

export interface Question {
  readonly asked: string
  /** What the answer depends on; '' for all collections at once. */
  readonly collection: string
  readonly isForKey?: boolean
  /** Undefined: there is no such thing. */
  ask(store: Store): Promise<unknown>
}

function pageQuestion(collection: string, page: number, form: 'raw' | 'deflated', isPublicOnly = false): Question {
  const asked = `${form} page ${page} of ${collection}${isPublicOnly ? ' for everybody' : ''}`
  const ask = async (store: Store) => {
    const read = await store.page(collection, page, { form, isPublicOnly })
    return read && [read.head.live, ...read.segments.map((segment) => hash('sha256', segment[form]()))]
  }
  return { asked, collection, ask }
}

function itemQuestion(collection: string, key: string): Question {
  const ask = async (store: Store) => {
    const item = (await store.item(collection, key))?.item
    return item && Buffer.from(item.text).toString()
  }
  return { asked: `${key} of ${collection}`, collection, isForKey: true, ask }
}

const keyCountOf = ({ settings, count }: Sample): number => (settings.keyField === undefined ? 0 : count)

export const QUESTIONS: readonly Question[] = [
  ...SAMPLES.flatMap((sample) => {
    const pages = Array.from({ length: sample.pages }, (_, index) => index + 1)
    const keys = keyCountOf(sample) === 0 ? [] : keysBelow(sample.count + KEYS_BEYOND, KEY_STEP)
    return [
      ...pages.map((page) => pageQuestion(sample.name, page, 'raw')),
      ...pages.map((page) => pageQuestion(sample.name, page, 'deflated', true)),
      ...pages.map((page) => pageQuestion(sample.name, page, 'deflated')),
      ...keys.map((key) => itemQuestion(sample.name, key)),
    ]
  }),
  ...[...EMPTY, ...NO_NAMES].map((name) => pageQuestion(name, 1, 'raw')),
  {
    asked: 'all collections',
    collection: '',
    ask: async (store) => (await store.collections()).map(({ name, live, isPrivate }) => [name, live, isPrivate]),
  },
  { asked: 'all tokens', collection: '', ask: (store) => store.tokens() },
  ...[...TOKENS.map((token) => token.hash), 'nobody'].map((token) => {
    return { asked: `token ${token}`, collection: '', ask: (store: Store) => store.token(token) }
  }),
]

/** Of every item that has a key or had one. */
export const KEY_QUESTIONS: readonly Question[] = SAMPLES.flatMap((sample) =>
  keysBelow(keyCountOf(sample)).map((key) => itemQuestion(sample.name, key)),
)

export async function makeStore(path: string): Promise<void> {
  const store = await openSqliteStore({ path, create: true })
  for (const { name, settings, count, change } of SAMPLES) {
    await store.create(name, settings)
    await store.append(name, itemRun(itemsOf(count), settings))
    await change?.(store)
  }
  for (const name of EMPTY) await store.create(name)
  for (const token of TOKENS) await store.addToken(token)
  await store.close()
}

/** As text; 'damaged' where the store says so. */
export async function askAll(store: Store, questions: readonly Question[]): Promise<string[]> {
  const answers: string[] = []
  for (const { ask } of questions)
    answers.push(await unlessDamaged(async () => JSON.stringify(await ask(store)) ?? 'none'))
  return answers
}

/** The collections that took their change. */
export async function writeAll(store: Store): Promise<Set<string>> {
  const written = new Set<string>()
  for (const { name, write } of SAMPLES)
    if ((await unlessDamaged(async () => String(await write(store)))) !== 'damaged') written.add(name)
  return written
}

async function unlessDamaged(answer: () => Promise<string>): Promise<string> {
  try {
    return await answer()
  } catch (error) {
    return error instanceof StoreError && error.code === 'corrupt' ? 'damaged' : `failed: ${error}`
  }
}

/** What a sound store answers, before and after the writes, and before them to those who ask for keys. */
export async function soundAnswers(path: string, copy: string) {
  copyFileSync(path, copy)
  const store = await openSqliteStore({ path: copy })
  const before = await askAll(store, QUESTIONS)
  const keys = await askAll(store, KEY_QUESTIONS)
  const written = await writeAll(store)
  if (written.size < SAMPLES.length) throw new Error(`Only ${[...written]} took their change.`)
  const after = await askAll(store, QUESTIONS)
  await store.close()
  return { before, after, keys }
}
