/** The reference of all limits of the service, with the values that the code has. */

import { durationMs } from '../src/cli/setting-kind.ts'
import { SETTINGS } from '../src/cli/settings.ts'
import { NAME_RULE } from '../src/contract/name.ts'
import { PAGE_SIZE, UNPAGINATED_LIMIT } from '../src/contract/page.ts'
import { PROBLEMS, type ProblemName } from '../src/contract/problem.ts'
import { TOKEN_NAME_RULE } from '../src/contract/scope.ts'
import { DEFAULT_ITEM_BYTES, MAX_ITEM_BYTES, MAX_KEY_BYTES } from '../src/items/item-scanner.ts'
import { MAX_DEPTH } from '../src/items/json-scan.ts'
import {
  FULL_MEMORY_BYTES,
  FULL_PLAN,
  type MemoryPlan,
  MIN_MEMORY_BYTES,
  planMemory,
} from '../src/memory/memory-plan.ts'
import { BODIES_A_TOKEN, BODIES_ARRIVING, MAX_PROCESSING_WAIT_MS } from '../src/service/body-memory.ts'
import {
  DEFAULT_LIMITS,
  HARMLESS_GZIP_BYTES,
  HEAD_TIMEOUT_MS,
  KEEP_ALIVE_MS,
  LINGER_MS,
  MAX_GZIP_RATIO,
  MAX_HEADER_BYTES,
  MAX_KEY_FIELD_LENGTH,
  MAX_SETTINGS_BYTES,
  MAX_WAIT_SECONDS,
  MAX_WAITING_REQUESTS,
  MIN_BYTES_PER_SECOND,
  REQUEST_TIMEOUT_MS,
  SEND_GRACE_MS,
  WAITING_A_CALLER,
} from '../src/service/limits.ts'
import { MAX_DESCRIBED_COLLECTIONS } from '../src/service/openapi/describe-service.ts'
import { DEFAULT_RETENTION } from '../src/store/collection-rules.ts'
import { DATABASE_HISTORY_BYTES, HISTORY_SHARE } from '../src/store/history.ts'
import { REQUEST_LIFETIME_MS } from '../src/store/request-log.ts'
import { MAX_RESERVE_BYTES, RESERVE_SHARE } from '../src/store/sqlite/file/disk-space.ts'
import { type Page, table } from './page.ts'

export function limitsPage(): Page {
  return {
    title: 'Limits',
    blocks: [
      'How large, how many and how long. A limit without a setting is fixed. The number of collections, and of items in a paginated one, is not limited.',
      '## Collections and items',
      table(
        ['', 'limit', 'beyond it'],
        [
          ['items on a page', String(PAGE_SIZE), 'there is a next page'],
          ['items of an unpaginated collection', count(UNPAGINATED_LIMIT), refused('conflict')],
          ['name of a collection', NAME_RULE, refused('invalid-name')],
          ['name of a token', TOKEN_NAME_RULE, 'exit status 2'],
          [
            'one item',
            `${size(DEFAULT_ITEM_BYTES)}; ${setting('--item-bytes')}, up to ${size(MAX_ITEM_BYTES)}`,
            refused('content-too-large'),
          ],
          ['nesting of objects and arrays', count(MAX_DEPTH), refused('invalid-item')],
          ['key of an item', `1 to ${count(MAX_KEY_BYTES)} bytes of UTF-8`, refused('invalid-item')],
          [
            'names of the key fields together, over HTTP',
            `${count(MAX_KEY_FIELD_LENGTH)} characters`,
            refused('invalid-body'),
          ],
          [
            'collections with their own paths in `/-/openapi.json`',
            count(MAX_DESCRIBED_COLLECTIONS),
            '`/{collection}` stands for them',
          ],
        ],
      ),
      'A file with a refused item is refused as a whole, with exit status 1.',
      '## History and the disk',
      table(
        ['', 'limit', 'beyond it'],
        [
          [
            'history of a collection',
            `${size(DEFAULT_RETENTION.retentionBytes)}; ${setting('--retention-bytes')}`,
            'the oldest states go first, within a minute',
          ],
          [
            'history of a whole store',
            `${share(HISTORY_SHARE)} of the disk, in PostgreSQL ${size(DATABASE_HISTORY_BYTES)}; ${setting('--history-bytes')}`,
            'the oldest states of all collections go first, within a minute',
          ],
          [
            'free space on the disk of a store in a file',
            `${size(MAX_RESERVE_BYTES)}, or ${share(RESERVE_SHARE)} of the disk if that is less`,
            `${refused('store-full')}, except for [operations that free space](../explanation/durability.md#when-the-disk-is-full)`,
          ],
          ['the file `<store>-reserve`, which the server keeps', 'as much again', 'it is given up on a full disk'],
        ],
      ),
      '## Requests',
      table(
        ['', 'limit', 'beyond it'],
        [
          ['request line and headers', size(MAX_HEADER_BYTES), refused('header-too-large')],
          [
            'requests of one token, or of one address without a token',
            `none; ${setting('--rate-limit')}, ${setting('--write-rate-limit')}`,
            refused('rate-limited'),
          ],
          [
            'body, packed and unpacked',
            `${size(DEFAULT_LIMITS.bodyBytes)}, [less with less memory](#memory); ${setting('--body-bytes')}`,
            refused('content-too-large'),
          ],
          [
            'items or changes in a body',
            `${count(DEFAULT_LIMITS.requestItems)}, [less with less memory](#memory); ${setting('--request-items')}`,
            refused('content-too-large'),
          ],
          [
            'gzip',
            `${MAX_GZIP_RATIO} times its packed size, above ${size(HARMLESS_GZIP_BYTES)}`,
            refused('content-too-large'),
          ],
          ['settings of a collection', size(MAX_SETTINGS_BYTES), refused('content-too-large')],
          ['what has arrived of all bodies', `${BODIES_ARRIVING} times the largest body`, refused('service-busy')],
          ['of those of one token', `${BODIES_A_TOKEN} times the largest body`, refused('service-busy')],
          [
            'bodies that are processed at a time',
            `as many as the [memory](#memory) for it allows; others wait, up to ${seconds(MAX_PROCESSING_WAIT_MS)}`,
            refused('service-busy'),
          ],
          [
            'responses that clients are slow to read, all together',
            `${size(FULL_PLAN.unsentBytes)}, [less with less memory](#memory); ${setting('--unsent-bytes')}`,
            'the slowest client is disconnected',
          ],
          [
            'connections of a process, on Linux',
            '200 less than the limit of open files (`ulimit -n`), or a quarter of that limit if that is more',
            'the next one is closed at once',
          ],
          [
            'pipelined requests on one connection',
            'any number, answered one after the other',
            'the rest is not read until its turn',
          ],
          [
            'requests of a process that [wait](contract.md#waiting) for a change',
            count(MAX_WAITING_REQUESTS),
            'others are answered at once; a caller with fewer gets a place from the one that has most',
          ],
          ['those of one token, or of one address without a token', count(WAITING_A_CALLER), 'the same'],
          ['`Idempotency-Key`', '1 to 255 visible ASCII characters', refused('invalid-idempotency-key')],
          ['how long one is remembered', seconds(REQUEST_LIFETIME_MS), 'the write is done again'],
        ],
      ),
      '## Memory',
      `The defaults of four settings depend on the memory: the limit of the container (of its control group, version 1 or 2), or that of the machine if it has less. With ${memory(FULL_MEMORY_BYTES)} or more they are as above. With \`--workers\`, each worker has its part of the memory.`,
      table(
        ['memory', ...PLANNED.map(([flag]) => setting(flag)), 'SQLite cache for writes', 'threads that compress'],
        PLANNED_MEMORY.map(([bytes, workers]) => planRow(bytes, workers)),
      ),
      `**${memory(MIN_MEMORY_BYTES)} are the minimum**, and so much again for each worker beyond the first. A complete body waits until there is memory to process it, which can take six times its bytes and 1,200 bytes for each item. A body larger than \`--body-bytes\` gets 413, and one that waited for ${seconds(MAX_PROCESSING_WAIT_MS)} gets 503 with \`Retry-After\`. Settings that you give are used as they are.`,
      'Near the minimum, large writes run one after the other, compress on one thread and read more from the disk; fewer pages come from the cache; and slow clients of large pages are disconnected sooner. Commands in the same container, such as `reams import`, need memory too: about 100 MB. A limit on a parent of the control group is not detected: set it on the service itself, or set the four settings.',
      '## Time',
      table(
        ['', 'limit', 'beyond it'],
        [
          ['until the head of a request has arrived', seconds(HEAD_TIMEOUT_MS), refused('request-timeout')],
          ['until all of it has arrived', seconds(REQUEST_TIMEOUT_MS), refused('request-timeout')],
          ['how long a request can [wait](contract.md#waiting)', seconds(MAX_WAIT_SECONDS * 1_000), 'is answered'],
          ['an idle connection', seconds(KEEP_ALIVE_MS), 'is closed'],
          [
            'a client that reads its response slowly',
            `${count(MIN_BYTES_PER_SECOND)} bytes a second, after ${seconds(SEND_GRACE_MS)} and what the system buffers`,
            'is disconnected',
          ],
          ['the rest of a refused body', seconds(LINGER_MS), 'the connection is closed'],
          [
            'running requests when the service is told to stop',
            `${seconds(durationMs(SETTINGS.shutdownTimeout.default))}; ${setting('--shutdown-timeout')}`,
            'are cut off',
          ],
        ],
      ),
      '## On Citus',
      '**Each collection is on one shard**, and so on one worker: its size, and how fast it is read and written, are limited by that machine, as with plain PostgreSQL. What scales with the number of workers is the number of collections ([Citus](../how-to/citus.md)).',
      'What a store in PostgreSQL waits for, and how long: [when the database is down](../how-to/postgres.md#when-the-database-is-down). What `reams pull`, `push` and `check` wait for and read are [settings](settings.md).',
    ],
  }
}

/** Settings with a default from the plan. Those of responses and the cache are for all workers together. */
const PLANNED = [
  ['--body-bytes', ({ bodyBytes }) => size(bodyBytes)],
  ['--request-items', ({ requestItems }) => count(requestItems)],
  ['--unsent-bytes', ({ unsentBytes }, workers) => size(unsentBytes * workers)],
  ['--cache-bytes', ({ cacheBytes }, workers) => size(cacheBytes * workers)],
] as const satisfies readonly (readonly [string, (plan: MemoryPlan, workers: number) => string])[]

const PLANNED_MEMORY = [
  [256 * 2 ** 20, 1],
  [512 * 2 ** 20, 1],
  [512 * 2 ** 20, 2],
  [1024 * 2 ** 20, 1],
  [FULL_MEMORY_BYTES, 1],
] as const

function planRow(bytes: number, workers: number): string[] {
  const plan = planMemory(bytes, workers)
  const values = PLANNED.map(([, value]) => value(plan, workers))
  return [
    memory(bytes) + (workers > 1 ? `, ${workers} workers` : ''),
    ...values,
    size(plan.writerCacheBytes),
    count(plan.deflateThreads),
  ]
}

function memory(bytes: number): string {
  return bytes % 2 ** 30 === 0 ? `${bytes / 2 ** 30} GB` : `${bytes / 2 ** 20} MB`
}

function refused(name: ProblemName): string {
  return `${PROBLEMS[name].status} [\`${name}\`](problems.md#${name})`
}

function setting(flag: string): string {
  return `[\`${flag}\`](settings.md#${flag})`
}

function count(value: number): string {
  return value.toLocaleString('en-US')
}

function share(part: number): string {
  return `1/${1 / part}`
}

function size(bytes: number): string {
  if (bytes % 2 ** 30 === 0) return `${bytes / 2 ** 30} GiB`
  return bytes % 2 ** 20 === 0 ? `${bytes / 2 ** 20} MiB` : `${bytes / 2 ** 10} KiB`
}

function seconds(ms: number): string {
  if (ms === 1_000) return '1 second'
  return ms >= 3_600_000 ? `${ms / 3_600_000} hours` : `${ms / 1000} seconds`
}
