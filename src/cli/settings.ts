/** The table of all settings: it drives the flags, the REAMS_… variables, --help and the reference page. */

import { DEFAULT_RETRY } from '../client/client-options.ts'
import { formatCount } from '../contract/message-text.ts'
import { UNPAGINATED_LIMIT } from '../contract/page.ts'
import { DEFAULT_SCHEMA } from '../follow/installation.ts'
import { DEFAULT_ITEM_BYTES, MAX_ITEM_BYTES } from '../items/item-scanner.ts'
import { FULL_PLAN } from '../memory/memory-plan.ts'
import { DataLocation } from './data-location.ts'
import * as kinds from './setting-kind.ts'

interface Row {
  readonly kind: kinds.SettingKind<unknown>
  /** Undefined: nothing unless given. */
  readonly default?: unknown
  /** For the reference: a default that depends on other settings. */
  readonly defaultText?: string
  /** One line of help. */
  readonly description: string
  /** Where it is not the name: `--timeout` for `pullTimeout`. Two settings may share a flag if no command has both. */
  readonly flag?: string
}

export interface Setting extends Row {
  /** As commander takes it: `--port <number>`. */
  readonly flag: string
  readonly variable: `REAMS_${string}`
  /** The heading under which --help shows it. */
  readonly group: string
}

/** A body becomes one string, and V8 has none that is much longer. */
const MAX_ANSWER_BYTES = 500_000_000

const DAY_SECONDS = 86_400

export const SETTINGS = {
  ...group('Data', {
    store: {
      kind: kinds.STORE,
      default: new DataLocation('reams.db'),
      description: 'the store: a file, or postgres://…',
    },
    from: { kind: kinds.STORE, description: 'the store to copy from: a file, or postgres://…' },
    to: { kind: kinds.STORE, description: 'the store to copy to; created if missing' },
    tableFrom: {
      kind: kinds.DATABASE,
      flag: '--from <database>',
      description: 'a database: postgres://…, mysql://…, a file',
    },
    table: { kind: kinds.TABLES, description: 'the table to read there' },
    query: { kind: kinds.QUERY, description: 'the query to read there, in place of a table' },
    order: { kind: kinds.text('columns'), description: 'its order, as in SQL (that of the primary key)' },
    create: toggle('create an empty store if there is none'),
    pushCreate: { ...toggle('create the collection if there is none'), flag: '--create' },
    sample: toggle('serve data/reams.db, created from sample data'),
    format: {
      kind: kinds.oneOf('name', 'ndjson', 'json', 'csv', 'tsv'),
      description: 'ndjson, json, csv or tsv, if the name does not say',
    },
    encoding: { kind: kinds.ENCODING, description: 'the encoding, without a byte order mark (utf-8)' },
    items: { kind: kinds.text('path'), description: 'where the items are in JSON: data, result.rows' },
    delimiter: { kind: kinds.DELIMITER, description: 'what separates CSV fields (told from the header)' },
    skip: number('lines to leave out above the header of CSV', 0, [0, 1000], 'lines'),
    types: toggle('make numbers, booleans and nulls of CSV values'),
    decimal: {
      kind: kinds.oneOf('mark', 'point', 'comma'),
      default: 'point',
      description: 'the decimal mark in CSV: point or comma',
    },
    dates: { kind: kinds.oneOf('order', 'dmy'), description: 'dmy: 31.12.2025 in CSV becomes 2025-12-31' },
    noSnapshot: toggle('read live pages, not a snapshot of them'),
    columns: { kind: kinds.COLUMNS, description: 'the columns of CSV, a,b,c (all; pull: of page 1)' },
    itemBytes: number('the largest item, in bytes', DEFAULT_ITEM_BYTES, [2, MAX_ITEM_BYTES]),
    collection: { kind: kinds.COLLECTIONS, description: 'only this collection; can be repeated' },
    tokens: toggle('copy the tokens too'),
    historyBytes: {
      kind: kinds.BYTES,
      description: 'the most history in the whole store: 10GiB',
      defaultText: 'a quarter of the disk; 16GiB in PostgreSQL',
    },
    bodyBytes: byMemory('the largest request body', FULL_PLAN.bodyBytes, [1, 1024 ** 3]),
    requestItems: byMemory('items in one request, at most', FULL_PLAN.requestItems, [1, 10_000_000]),
  }),
  ...group('Address', {
    port: number('the port; 0 picks a free one', 8080, [0, 65_535]),
    host: { kind: kinds.HOST, default: '127.0.0.1', description: 'the address to listen on' },
    baseUrl: {
      kind: kinds.BASE_URL,
      description: 'the URL that every link starts with',
      defaultText: 'http://127.0.0.1:PORT',
    },
    requireToken: toggle('answer only with a token; see "reams token"'),
    createOnWrite: toggle('let POST and PATCH create a collection'),
    tokenFile: { kind: kinds.FILE, description: 'a file with the bearer token to send' },
    ca: { kind: kinds.FILE, description: 'a file with CA certificates to trust too, PEM' },
    allowOrigin: { kind: kinds.ORIGINS, description: 'another server to follow links to; can be repeated' },
  }),
  ...group('Collection', {
    key: { kind: kinds.KEY_FIELDS, description: 'the field that identifies an item, or several: a,b' },
    unpaginated: toggle(`serve it whole, not in pages; at most ${formatCount(UNPAGINATED_LIMIT)} items`),
    private: toggle('do not list it; "not found" without a token for it'),
    public: toggle('list it, and let everybody read it'),
    detach: toggle('make a mirror an ordinary collection'),
    retention: { kind: kinds.RETENTION, description: 'how long to keep history: 12h, 7d; 0 for none' },
    retentionBytes: { kind: kinds.BYTES, description: 'the most history to keep: 512MiB, 2GiB' },
  }),
  ...group('Existing items', {
    replace: toggle('replace the whole collection at once'),
    allowEmpty: toggle('let --replace remove all items'),
    onConflict: {
      kind: kinds.oneOf('what', 'fail', 'skip', 'replace'),
      default: 'fail',
      description: 'if the key exists: fail, skip or replace',
    },
    report: { kind: kinds.FILE, description: 'with skip: list what was skipped in this file' },
  }),
  ...group('Follow', {
    collectionName: {
      kind: kinds.COLLECTION,
      flag: '--name <name>',
      description: 'the collection (named after the table)',
    },
    every: { kind: kinds.INTERVAL, default: '1s', description: 'how often to look for changes' },
    install: toggle('install what it needs there, without asking'),
    dryRun: toggle('print the SQL that would be run there, and end'),
    compare: toggle('compare all rows now, and mend what differs'),
    compareEvery: { kind: kinds.INTERVAL, default: '24h', description: 'how often to do that' },
    schema: { kind: kinds.text('name'), default: DEFAULT_SCHEMA, description: 'where to install it' },
    queueRows: number('changes that may wait there', 10_000_000, [1_000, 1_000_000_000]),
  }),
  ...group('Mirror', {
    mirrorName: {
      kind: kinds.COLLECTION,
      flag: '--name <name>',
      description: 'the collection here (named as there)',
    },
    mirrorEvery: {
      kind: kinds.INTERVAL,
      flag: '--every <interval>',
      default: '5s',
      description: 'how often to ask, where a server cannot wait',
    },
    once: toggle('catch up with what it has now, and end'),
    maxItems: number('the most items that a mirror may have', 100_000_000, [1, 1_000_000_000_000]),
    maxBytes: {
      kind: kinds.BYTES,
      description: 'the most bytes of items: 512MiB, 2GiB',
      defaultText: 'as much as the disk allows; PostgreSQL: 100GiB',
    },
  }),
  ...group('Token', {
    name: { kind: kinds.TOKEN_NAME, description: 'a name of your choice' },
    scope: { kind: kinds.SCOPES, description: 'what the token may do; can be repeated' },
    expires: { kind: kinds.LIFETIME, default: '90d', description: 'how long it is valid: 30m, 12h, 90d or never' },
  }),
  ...group('Rules', {
    walk: toggle('read every page, not just a sample'),
    strict: toggle('broken D rules fail the check, instead of warning'),
    explain: { kind: kinds.text('rule'), description: 'explain a rule, and check nothing' },
  }),
  ...group('Limits', {
    workers: { kind: kinds.WORKERS, default: 1, description: 'processes that serve, or auto for one per core' },
    cacheBytes: byMemory('memory for recent pages; 0 for none', FULL_PLAN.cacheBytes, [0, 1024 ** 4]),
    unsentBytes: byMemory('memory for responses not yet read', FULL_PLAN.unsentBytes, [1, 1024 ** 4]),
    concurrency: number('requests at a time', 4, [1, 100]),
    delay: number('milliseconds between two requests', 0, [0, 3_600_000], 'ms'),
    batch: number('items per request, at most', 1000, [1, FULL_PLAN.requestItems]),
    retries: number('how often to retry a request, at most', DEFAULT_RETRY.retries, [0, 1_000_000]),
    pushTimeout: timeout('how long to wait for a response', 60),
    pullTimeout: timeout('how long to wait for a whole page', 60),
    timeout: timeout('how long to wait for a response', 10),
    timeLimit: {
      kind: kinds.wholeNumber(1, 7 * DAY_SECONDS, 'seconds'),
      description: 'how long the whole check may take (120; --walk 3600)',
    },
    answerBytes: number('the largest response, uncompressed', 64 * 1024 * 1024, [1, MAX_ANSWER_BYTES]),
  }),
  ...group('Operation', {
    logLevel: {
      kind: kinds.oneOf('level', 'trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
      default: 'info',
      description: 'the least serious lines in the log',
    },
    logRequests: {
      kind: kinds.oneOf('which', 'all', 'slow', 'errors', 'none'),
      defaultText: 'all; errors for files and the sample',
      description: 'which requests to log: all, slow, errors or none',
    },
    adminPort: {
      kind: kinds.wholeNumber(0, 65_535),
      description: 'a port for /live, /ready and /metrics',
    },
    adminHost: { kind: kinds.HOST, default: '127.0.0.1', description: 'the address of that port' },
    drainDelay: {
      kind: kinds.DURATION,
      default: '0s',
      description: 'how long to go on as usual after SIGTERM',
    },
    tlsCert: { kind: kinds.FILE, description: 'serve https with this certificate, in PEM form' },
    tlsKey: { kind: kinds.FILE, description: 'its private key; SIGHUP reads both again' },
    shutdownTimeout: { kind: kinds.DURATION, default: '10s', description: 'how long running requests may then take' },
    rateLimit: { kind: kinds.RATE, description: 'reads of one token or address: 100/s, 600/m' },
    writeRateLimit: {
      kind: kinds.RATE,
      description: 'writes of one token or address',
      defaultText: 'as --rate-limit',
    },
    trustProxy: { kind: kinds.NETWORKS, description: 'a proxy that tells the address; can be repeated' },
    corsOrigin: { kind: kinds.CORS_ORIGINS, description: 'whose pages may read: https://x.example, or *' },
  }),
  ...group('Output', {
    reportFormat: {
      kind: kinds.oneOf('name', 'text', 'json'),
      flag: '--format <name>',
      default: 'text',
      description: 'text or json',
    },
    output: {
      kind: kinds.FILE,
      flag: '-o, --output <file>',
      description: 'write to this file; as gzip if it ends in .gz',
    },
    yes: toggle('do not ask'),
    force: toggle('overwrite the file if it exists'),
    resume: toggle('resume an interrupted pull'),
    quiet: toggle('print nothing but errors'),
    json: toggle('print the result as JSON, for programs'),
  }),
} as const satisfies Record<string, Setting>

/** How CSV is read: for every command that reads files. */
export const CSV_SETTINGS = [
  'delimiter',
  'skip',
  'types',
  'decimal',
  'dates',
] as const satisfies (keyof typeof SETTINGS)[]

/** What else the program reads from the environment. None is a flag: a token on the command line is visible to all. */
export const OTHER_VARIABLES = {
  REAMS_TOKEN: 'the bearer token itself, for commands that send requests; a file given with `--token-file` wins',
  REAMS_DEBUG: 'with the value 1, an error also shows where in the program it occurred',
} as const satisfies Record<`REAMS_${string}`, string>

export type SettingName = keyof typeof SETTINGS

type KindValue<K> = K extends kinds.SettingKind<infer T> ? T : never

/** The type of a setting's value: undefined is possible only where there is no default. */
export type SettingValue<N extends SettingName> =
  | KindValue<(typeof SETTINGS)[N]['kind']>
  | ((typeof SETTINGS)[N] extends { readonly default: unknown } ? never : undefined)

/** `--output` of `-o, --output <file>`. */
export function longFlag({ flag }: Pick<Setting, 'flag'>): string {
  return /--[a-z-]+/.exec(flag)?.[0] ?? flag
}

function toggle(description: string) {
  return { kind: kinds.SWITCH, default: false, description } as const
}

function number(description: string, value: number, [min, max]: readonly [number, number], placeholder?: string) {
  return { kind: kinds.wholeNumber(min, max, placeholder), default: value, description } as const
}

/** A number whose default depends on the memory of the machine. `full` is the default with 2 GB or more. */
function byMemory(description: string, full: number, [min, max]: readonly [number, number]) {
  const defaultText = `${full} with 2 GB of memory or more, otherwise a share of the memory`
  return { kind: kinds.wholeNumber(min, max), description: `${description} (${full})`, defaultText } as const
}

/** Three settings with one flag. */
function timeout(description: string, seconds: number) {
  return { ...number(description, seconds, [1, DAY_SECONDS], 'seconds'), flag: '--timeout <seconds>' } as const
}

/** Completes the rows of one group: flag and variable follow from the name. */
function group<const R extends Readonly<Record<string, Row>>>(title: string, rows: R) {
  const settings = Object.entries(rows).map(([name, row]): [string, Setting] => {
    const words = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    const value = row.kind.placeholder === undefined ? '' : ` <${row.kind.placeholder}>`
    const variable = `REAMS_${words.replaceAll('-', '_').toUpperCase()}` as const
    return [name, { flag: `--${words}${value}`, ...row, variable, group: title }]
  })
  return Object.fromEntries(settings) as {
    readonly [N in keyof R]: R[N] & Pick<Setting, 'flag' | 'variable' | 'group'>
  }
}
