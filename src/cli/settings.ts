/** The table of all settings: it drives the flags, the REAMS_… variables, --help and the reference page. */

import { DEFAULT_RETRY } from '../client/client-options.ts'
import { UNPAGINATED_LIMIT } from '../contract/page.ts'
import { DEFAULT_ITEM_BYTES } from '../items/item-scanner.ts'
import { DEFAULT_CACHE_BYTES, DEFAULT_LIMITS, DEFAULT_UNSENT_BYTES } from '../service/limits.ts'
import { formatCount } from './figures.ts'
import {
  BASE_URL,
  COLUMNS,
  HOST,
  LIFETIME,
  NAMES,
  ORIGINS,
  oneOf,
  SCOPES,
  type SettingKind,
  STORE,
  SWITCH,
  TEXT,
  TOKEN_NAME,
  WORKERS,
  wholeNumber,
} from './setting-kind.ts'
import { StoreLocation } from './store-location.ts'

export type CommandName =
  | 'serve'
  | 'import'
  | 'copy'
  | 'push'
  | 'pull'
  | 'export'
  | 'drop'
  | 'set'
  | 'compact'
  | 'collections'
  | 'verify'
  | 'check'
  | `token ${'create' | 'list' | 'revoke'}`

export interface Setting<T> {
  /** As commander takes it. Two settings may share a flag if no command has both. */
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
export const MAX_ITEM_BYTES = 1024 * 1024

/** A body becomes one string, and V8 has none that is much longer. */
const MAX_ANSWER_BYTES = 500_000_000

/** A day. */
const MAX_SECONDS = 86_400

const DATA = 'Data'
const ADDRESS = 'Address'
const COLLECTION = 'Collection'
const EXISTING = 'Items that are there already'
const TOKEN = 'Token'
const RULES = 'Rules'
const LIMITS = 'Limits'
const OUTPUT = 'Output'

export const SETTINGS = {
  store: {
    flag: '--store <place>',
    variable: 'REAMS_STORE',
    kind: STORE,
    default: new StoreLocation('reams.db'),
    description: 'the store: a file, or postgres://…',
    group: DATA,
    commands: [
      'serve',
      'import',
      'export',
      'drop',
      'set',
      'compact',
      'collections',
      'verify',
      'token create',
      'token list',
      'token revoke',
    ],
  },
  from: {
    flag: '--from <place>',
    variable: 'REAMS_FROM',
    kind: STORE,
    default: undefined,
    description: 'the store to copy from: a file, or postgres://…',
    group: DATA,
    commands: ['copy'],
  },
  to: {
    flag: '--to <place>',
    variable: 'REAMS_TO',
    kind: STORE,
    default: undefined,
    description: 'the store to copy to; made if it is missing',
    group: DATA,
    commands: ['copy'],
  },
  create: {
    flag: '--create',
    variable: 'REAMS_CREATE',
    kind: SWITCH,
    default: false,
    description: 'make an empty store if there is none',
    group: DATA,
    commands: ['serve', 'token create'],
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
    description: 'ndjson, json or csv, if not told by the name of FILE',
    group: DATA,
    commands: ['serve', 'import', 'push', 'pull'],
  },
  columns: {
    flag: '--columns <names>',
    variable: 'REAMS_COLUMNS',
    kind: COLUMNS,
    default: undefined,
    description: 'the columns of CSV, a,b,c (those of page 1)',
    group: DATA,
    commands: ['pull'],
  },
  itemBytes: {
    flag: '--item-bytes <number>',
    variable: 'REAMS_ITEM_BYTES',
    kind: wholeNumber(2, MAX_ITEM_BYTES),
    default: DEFAULT_ITEM_BYTES,
    description: 'the largest item taken, in bytes',
    group: DATA,
    commands: ['serve', 'import', 'push'],
  },
  collection: {
    flag: '--collection <name>',
    variable: 'REAMS_COLLECTION',
    kind: NAMES,
    default: undefined,
    description: 'a collection under URL; can be given again',
    group: DATA,
    commands: ['check'],
  },
  copyCollection: {
    flag: '--collection <name>',
    variable: 'REAMS_COPY_COLLECTION',
    kind: NAMES,
    default: undefined,
    description: 'a collection to copy; can be given again (all)',
    group: DATA,
    commands: ['copy'],
  },
  tokens: {
    flag: '--tokens',
    variable: 'REAMS_TOKENS',
    kind: SWITCH,
    default: false,
    description: 'copy the tokens too',
    group: DATA,
    commands: ['copy'],
  },
  bodyBytes: {
    flag: '--body-bytes <number>',
    variable: 'REAMS_BODY_BYTES',
    kind: wholeNumber(1, 1024 * 1024 * 1024),
    default: DEFAULT_LIMITS.bodyBytes,
    description: 'the largest body of a request, in bytes',
    group: DATA,
    commands: ['serve'],
  },
  workers: {
    flag: '--workers <number>',
    variable: 'REAMS_WORKERS',
    kind: WORKERS,
    default: 1,
    description: 'processes that serve, or auto for one a core',
    group: LIMITS,
    commands: ['serve'],
  },
  cacheBytes: {
    flag: '--cache-bytes <number>',
    variable: 'REAMS_CACHE_BYTES',
    kind: wholeNumber(0, 1024 ** 4),
    default: DEFAULT_CACHE_BYTES,
    description: 'memory for pages asked for again; 0 is none',
    group: LIMITS,
    commands: ['serve'],
  },
  unsentBytes: {
    flag: '--unsent-bytes <number>',
    variable: 'REAMS_UNSENT_BYTES',
    kind: wholeNumber(1, 1024 ** 4),
    default: DEFAULT_UNSENT_BYTES,
    description: 'memory for answers that clients are slow to take',
    group: LIMITS,
    commands: ['serve'],
  },
  mostItems: {
    flag: '--most-items <number>',
    variable: 'REAMS_MOST_ITEMS',
    kind: wholeNumber(1, 10_000_000),
    default: DEFAULT_LIMITS.requestItems,
    description: 'items that one request can append',
    group: DATA,
    commands: ['serve'],
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
    commands: ['serve', 'check'],
  },
  requireToken: {
    flag: '--require-token',
    variable: 'REAMS_REQUIRE_TOKEN',
    kind: SWITCH,
    default: false,
    description: 'answer only those with a token; see "reams token"',
    group: ADDRESS,
    commands: ['serve'],
  },
  tokenFile: {
    flag: '--token-file <file>',
    variable: 'REAMS_TOKEN_FILE',
    kind: TEXT,
    default: undefined,
    description: 'a file with a bearer token for every request',
    group: ADDRESS,
    commands: ['push', 'pull', 'check'],
  },
  allowOrigin: {
    flag: '--allow-origin <url>',
    variable: 'REAMS_ALLOW_ORIGIN',
    kind: ORIGINS,
    default: undefined,
    description: 'where else links may lead to; can be given again',
    group: ADDRESS,
    commands: ['pull'],
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
    description: 'not listed, and "not found" without a token for it',
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
    commands: ['import', 'copy'],
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
  name: {
    flag: '--name <name>',
    variable: 'REAMS_NAME',
    kind: TOKEN_NAME,
    default: undefined,
    description: 'what you call it',
    group: TOKEN,
    commands: ['token create'],
  },
  scope: {
    flag: '--scope <scope>',
    variable: 'REAMS_SCOPE',
    kind: SCOPES,
    default: undefined,
    description: 'what it may do; can be given again',
    group: TOKEN,
    commands: ['token create'],
  },
  expires: {
    flag: '--expires <time>',
    variable: 'REAMS_EXPIRES',
    kind: LIFETIME,
    default: '90d',
    description: 'how long it is valid: 30m, 12h, 90d or never',
    group: TOKEN,
    commands: ['token create'],
  },
  walk: {
    flag: '--walk',
    variable: 'REAMS_WALK',
    kind: SWITCH,
    default: false,
    description: 'read all pages, not a sample of them',
    group: RULES,
    commands: ['check'],
  },
  strict: {
    flag: '--strict',
    variable: 'REAMS_STRICT',
    kind: SWITCH,
    default: false,
    description: 'D rules decide too, instead of warning',
    group: RULES,
    commands: ['check'],
  },
  explain: {
    flag: '--explain <rule>',
    variable: 'REAMS_EXPLAIN',
    kind: TEXT,
    default: undefined,
    description: 'print what a rule is about, and check nothing',
    group: RULES,
    commands: ['check'],
  },
  requests: {
    flag: '--requests <number>',
    variable: 'REAMS_REQUESTS',
    kind: wholeNumber(1, 1_000_000),
    default: 60,
    description: 'requests a collection at most, without a walk',
    group: LIMITS,
    commands: ['check'],
  },
  concurrency: {
    flag: '--concurrency <number>',
    variable: 'REAMS_CONCURRENCY',
    kind: wholeNumber(1, 100),
    default: 4,
    description: 'requests at a time',
    group: LIMITS,
    commands: ['pull', 'check'],
  },
  delay: {
    flag: '--delay <ms>',
    variable: 'REAMS_DELAY',
    kind: wholeNumber(0, 3_600_000),
    default: 0,
    description: 'milliseconds from one request to the next',
    group: LIMITS,
    commands: ['check'],
  },
  batch: {
    flag: '--batch <number>',
    variable: 'REAMS_BATCH',
    kind: wholeNumber(1, DEFAULT_LIMITS.requestItems),
    default: 1000,
    description: 'items in a request, at most',
    group: LIMITS,
    commands: ['push'],
  },
  retries: {
    flag: '--retries <number>',
    variable: 'REAMS_RETRIES',
    kind: wholeNumber(0, 1_000_000),
    default: DEFAULT_RETRY.retries,
    description: 'how often a request is sent again, at most',
    group: LIMITS,
    commands: ['push', 'pull'],
  },
  pushTimeout: {
    flag: '--timeout <seconds>',
    variable: 'REAMS_PUSH_TIMEOUT',
    kind: wholeNumber(1, MAX_SECONDS),
    default: 60,
    description: 'the longest wait for an answer',
    group: LIMITS,
    commands: ['push'],
  },
  pullTimeout: {
    flag: '--timeout <seconds>',
    variable: 'REAMS_PULL_TIMEOUT',
    kind: wholeNumber(1, MAX_SECONDS),
    default: 60,
    description: 'the longest wait for a whole page',
    group: LIMITS,
    commands: ['pull'],
  },
  timeout: {
    flag: '--timeout <seconds>',
    variable: 'REAMS_TIMEOUT',
    kind: wholeNumber(1, MAX_SECONDS),
    default: 10,
    description: 'the longest wait for an answer',
    group: LIMITS,
    commands: ['check'],
  },
  timeLimit: {
    flag: '--time-limit <seconds>',
    variable: 'REAMS_TIME_LIMIT',
    kind: wholeNumber(1, 7 * MAX_SECONDS),
    default: undefined,
    description: 'the longest run (120; with a walk 3600)',
    group: LIMITS,
    commands: ['check'],
  },
  answerBytes: {
    flag: '--answer-bytes <number>',
    variable: 'REAMS_ANSWER_BYTES',
    kind: wholeNumber(1, MAX_ANSWER_BYTES),
    default: 64 * 1024 * 1024,
    description: 'the largest answer read, unpacked',
    group: LIMITS,
    commands: ['pull', 'check'],
  },
  reportFormat: {
    flag: '--format <name>',
    variable: 'REAMS_REPORT_FORMAT',
    kind: oneOf('text', 'json', 'junit'),
    default: 'text',
    description: 'text, json or junit',
    group: OUTPUT,
    commands: ['check'],
  },
  output: {
    flag: '-o, --output <file>',
    variable: 'REAMS_OUTPUT',
    kind: TEXT,
    default: undefined,
    description: 'write to this file; as gzip if it ends in .gz',
    group: OUTPUT,
    commands: ['export', 'pull'],
  },
  force: {
    flag: '--force',
    variable: 'REAMS_FORCE',
    kind: SWITCH,
    default: false,
    description: 'overwrite the file if it is there',
    group: OUTPUT,
    commands: ['export', 'pull'],
  },
  resume: {
    flag: '--resume',
    variable: 'REAMS_RESUME',
    kind: SWITCH,
    default: false,
    description: 'go on with a pull that was stopped',
    group: OUTPUT,
    commands: ['pull'],
  },
  quiet: {
    flag: '--quiet',
    variable: 'REAMS_QUIET',
    kind: SWITCH,
    default: false,
    description: 'say nothing but errors',
    group: OUTPUT,
    commands: ['pull'],
  },
  json: {
    flag: '--json',
    variable: 'REAMS_JSON',
    kind: SWITCH,
    default: false,
    description: 'print JSON, for programs',
    group: OUTPUT,
    commands: ['collections', 'token list', 'pull'],
  },
} as const satisfies Record<string, Setting<unknown>>

/** What else the program reads of the environment, and what it is for. None is a flag: a token there is for all to see. */
export const OTHER_VARIABLES = {
  REAMS_TOKEN:
    'the bearer token itself, for commands that send requests; a file given with `--token-file` wins over it',
  REAMS_DEBUG: 'with the value 1, an error also shows where in the program it arose',
} as const satisfies Record<`REAMS_${string}`, string>

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
