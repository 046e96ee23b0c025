/**
 * The tables that hold collections, declared once: engines make their statements from this. A row is a list of values: first
 * its key, then the rest. What it belongs to is not part of it.
 */

import type { Head } from './store.ts'

export type Value = number | string | Uint8Array | null
export type Row = readonly Value[]

/**
 * 'json' is text that came from outside: an item or a key. 'deflated' is bytes by the kilobyte. 'now' is a time that the engine writes, by
 * its own clock, and reads back as a time by ours. 'generationId' is known from the generation where an engine has no such numbers.
 */
export type ColumnType = 'number' | 'text' | 'json' | 'bytes' | 'deflated' | 'now' | 'generationId'

export interface Column {
  readonly name: string
  readonly type: ColumnType
}

/** Where the rows of a generation of a collection are. An engine decides what the two numbers are. */
export interface Place {
  /** Rows with the same one are on the same server. */
  readonly shardKey: number
  readonly generationId: number
}

/**
 * What rows belong to: a generation of a collection, a collection with all its generations, the collections at a shard key, or the
 * store. The name is for messages.
 */
export interface Owners {
  readonly generation: Place & Named
  readonly collection: Pick<Place, 'shardKey'> & { readonly id: number } & Named
  readonly shard: Pick<Place, 'shardKey'> & Named
  readonly store: Named
}

interface Named {
  readonly name: string | undefined
}

/** The owner of what belongs to no collection. */
export const STORE: Named = { name: undefined }

export type Owner = keyof Owners

/** A head with what only the store needs to know. */
export interface StoredHead extends Head, Place {
  /** A load is running, or left something where the next write would go. Always true in an engine that does not keep it. */
  readonly isGuarded: boolean
}

/** The head as the store's callers see it. */
export function publicHead(head: Head): Head {
  // Field by field: taking the others out of it takes ten times as long, and every page has a head.
  const { name, id, keyField, isPaginated, isPrivate, generation, version, commitId, fullPagesId, next, live } = head
  const { changes, historyFrom, retentionMs, retentionBytes, origin } = head
  const state = { generation, version, commitId, fullPagesId, next, live, changes }
  return { name, id, keyField, isPaginated, isPrivate, ...state, historyFrom, retentionMs, retentionBytes, origin }
}

export interface Table<O extends Owner = Owner> {
  readonly name: string
  readonly owner: O
  readonly key: readonly Column[]
  /** Those of the key first. */
  readonly columns: readonly Column[]
  /** What a row is called in a message. */
  readonly title: (row: Row) => string
}

type Types = Readonly<Record<string, ColumnType>>

function table<O extends Owner>(name: string, owner: O, key: Types, values: Types, title: Table['title']): Table<O> {
  const columnsOf = (types: Types): Column[] => Object.entries(types).map(([name, type]) => ({ name, type }))
  return { name, owner, key: columnsOf(key), columns: [...columnsOf(key), ...columnsOf(values)], title }
}

export const REAM = table(
  'ream',
  'generation',
  { number: 'number' },
  { count: 'number', raw_length: 'number', crc: 'number', gone: 'bytes', quires: 'bytes', data: 'deflated' },
  ([number]) => `Ream ${number}`,
)

export const TAIL = table(
  'tail',
  'generation',
  { position: 'number' },
  { item: 'json' },
  ([position]) => `The item at position ${position}, in the tail,`,
)

export const KEY = table(
  'key',
  'generation',
  { key: 'json' },
  { position: 'number' },
  ([key]) => `The key ${JSON.stringify(key)}`,
)

export const HOLE = table(
  'hole',
  'generation',
  { level: 'number', block: 'number' },
  { gone: 'number' },
  ([level, block]) => `The hole count of level ${level}, block ${block}`,
)

export const STATE = table(
  'state',
  'collection',
  { changes: 'number', version: 'number' },
  { commit_id: 'text', generation: 'number', next: 'number', live: 'number', bytes: 'number', at: 'now' },
  ([, version]) => `The state of version ${version}`,
)

export const CHANGE = table(
  'change',
  'collection',
  { number: 'number' },
  {
    version: 'number',
    generation: 'number',
    kind: 'number',
    position: 'number',
    count: 'number',
    before: 'json',
  },
  ([number]) => `Change ${number}`,
)

export const PAST = table(
  'past',
  'collection',
  { generation: 'number', position: 'number', number: 'number' },
  {},
  ([, position, number]) => `What change ${number} says about position ${position}`,
)

export const PAST_HOLE = table(
  'past_hole',
  'collection',
  { generation: 'number', level: 'number', block: 'number', number: 'number' },
  { gone: 'number' },
  ([, level, block]) => `The earlier hole count of level ${level}, block ${block}`,
)

export const REPLACED = table(
  'replaced',
  'collection',
  { generation: 'number' },
  { generation_id: 'generationId', next: 'number', live: 'number' },
  ([generation]) => `Generation ${generation}`,
)

/** What collections follow, by their names. */
export const FOLLOWING = table(
  'following',
  'shard',
  { name: 'text' },
  { source: 'text', waiting: 'number', as_of: 'number', seen_at: 'number', holder: 'text' },
  ([name]) => `What ${JSON.stringify(name)} follows`,
)

export const TOKEN = table(
  'token',
  'store',
  { hash: 'text' },
  { name: 'text', scopes: 'text', created_at: 'number', expires_at: 'number', revoked_at: 'number' },
  ([, name]) => `The token ${JSON.stringify(name)}`,
)

/** Whose rows belong to no collection's contents. */
export type LooseTable = Table<'shard'> | Table<'store'>

/** The tables of collections' contents. */
export const TABLES: readonly (Table<'generation'> | Table<'collection'>)[] = [
  ...[REAM, TAIL, KEY, HOLE],
  ...[STATE, CHANGE, PAST, PAST_HOLE, REPLACED],
]
