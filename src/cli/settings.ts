/** The table of all settings: it drives the flags, the REAMS_… variables, --help and the reference page. */

import { DEFAULT_ITEM_BYTES, UNPAGINATED_LIMIT } from '../contract/item-run.ts'
import { formatCount } from './figures.ts'
import { BASE_URL, HOST, oneOf, type SettingKind, SWITCH, TEXT, wholeNumber } from './setting-kind.ts'

export type CommandName = 'serve' | 'import' | 'export' | 'drop' | 'set' | 'collections' | 'verify'

export interface Setting<T> {
  /** As commander takes it. */
  readonly flag: string
  readonly variable: `REAMS_${string}`
  readonly kind: SettingKind<T>
  /** Undefined: nothing unless given. */
  readonly default: T | undefined
  /** One line. */
  readonly description: string
  /** The heading under which --help shows it. */
  readonly group: string
  readonly commands: readonly CommandName[]
}

/** 500 items of this size are still one ream that SQLite can hold as a value. */
const MOST_ITEM_BYTES = 1024 * 1024

const DATA = 'Data'
const ADDRESS = 'Address'
const COLLECTION = 'Collection'
const EXISTING = 'Items that are there already'
const OUTPUT = 'Output'

export const SETTINGS = {
  store: {
    flag: '--store <path>',
    variable: 'REAMS_STORE',
    kind: TEXT,
    default: 'reams.db',
    description: 'the store, one SQLite file',
    group: DATA,
    commands: ['serve', 'import', 'export', 'drop', 'set', 'collections', 'verify'],
  },
  sample: {
    flag: '--sample',
    variable: 'REAMS_SAMPLE',
    kind: SWITCH,
    default: false,
    description: 'serve data/reams.db, made with sample data if missing',
    group: DATA,
    commands: ['serve'],
  },
  format: {
    flag: '--format <name>',
    variable: 'REAMS_FORMAT',
    kind: oneOf('ndjson', 'json', 'csv'),
    default: undefined,
    description: 'ndjson, json or csv, if the name of FILE does not tell',
    group: DATA,
    commands: ['serve', 'import'],
  },
  itemBytes: {
    flag: '--item-bytes <number>',
    variable: 'REAMS_ITEM_BYTES',
    kind: wholeNumber(2, MOST_ITEM_BYTES),
    default: DEFAULT_ITEM_BYTES,
    description: 'the largest item taken, in bytes',
    group: DATA,
    commands: ['serve', 'import'],
  },
  port: {
    flag: '--port <number>',
    variable: 'REAMS_PORT',
    kind: wholeNumber(0, 65_535),
    default: 8080,
    description: 'the port; 0 picks a free one',
    group: ADDRESS,
    commands: ['serve'],
  },
  host: {
    flag: '--host <address>',
    variable: 'REAMS_HOST',
    kind: HOST,
    default: '127.0.0.1',
    description: 'the address to listen on',
    group: ADDRESS,
    commands: ['serve'],
  },
  baseUrl: {
    flag: '--base-url <url>',
    variable: 'REAMS_BASE_URL',
    kind: BASE_URL,
    default: undefined,
    description: 'what every link begins with',
    group: ADDRESS,
    commands: ['serve'],
  },
  key: {
    flag: '--key <field>',
    variable: 'REAMS_KEY',
    kind: TEXT,
    default: undefined,
    description: 'the field that identifies an item',
    group: COLLECTION,
    commands: ['serve', 'import'],
  },
  unpaginated: {
    flag: '--unpaginated',
    variable: 'REAMS_UNPAGINATED',
    kind: SWITCH,
    default: false,
    description: `answer whole, not in pages; at most ${formatCount(UNPAGINATED_LIMIT)} items`,
    group: COLLECTION,
    commands: ['serve', 'import'],
  },
  private: {
    flag: '--private',
    variable: 'REAMS_PRIVATE',
    kind: SWITCH,
    default: false,
    description: 'not listed, and "not found" for every reader',
    group: COLLECTION,
    commands: ['import', 'set'],
  },
  public: {
    flag: '--public',
    variable: 'REAMS_PUBLIC',
    kind: SWITCH,
    default: false,
    description: 'listed, and open to every reader',
    group: COLLECTION,
    commands: ['set'],
  },
  replace: {
    flag: '--replace',
    variable: 'REAMS_REPLACE',
    kind: SWITCH,
    default: false,
    description: 'swap the whole collection at once',
    group: EXISTING,
    commands: ['import'],
  },
  onConflict: {
    flag: '--on-conflict <what>',
    variable: 'REAMS_ON_CONFLICT',
    kind: oneOf('fail', 'skip', 'replace'),
    default: 'fail',
    description: 'for a key that is there: fail, skip or replace',
    group: EXISTING,
    commands: ['serve', 'import'],
  },
  output: {
    flag: '-o, --output <file>',
    variable: 'REAMS_OUTPUT',
    kind: TEXT,
    default: undefined,
    description: 'write to this file; as gzip if it ends in .gz',
    group: OUTPUT,
    commands: ['export'],
  },
  force: {
    flag: '--force',
    variable: 'REAMS_FORCE',
    kind: SWITCH,
    default: false,
    description: 'overwrite the file if it is there',
    group: OUTPUT,
    commands: ['export'],
  },
  json: {
    flag: '--json',
    variable: 'REAMS_JSON',
    kind: SWITCH,
    default: false,
    description: 'print JSON instead of a table',
    group: OUTPUT,
    commands: ['collections'],
  },
} as const satisfies Record<string, Setting<unknown>>

export type SettingName = keyof typeof SETTINGS

type KindValue<K> = K extends SettingKind<infer T> ? T : never

/** The type of a setting's value: undefined is possible only where there is no default. */
export type SettingValue<N extends SettingName> =
  | KindValue<(typeof SETTINGS)[N]['kind']>
  | Extract<(typeof SETTINGS)[N]['default'], undefined>

/** The settings that a command takes, in the order of the table. */
export function settingsOf(command: CommandName): [SettingName, Setting<unknown>][] {
  const all = Object.entries(SETTINGS) as [SettingName, Setting<unknown>][]
  return all.filter(([, setting]) => setting.commands.includes(command))
}
