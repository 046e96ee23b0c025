/** The options of the checker, with their defaults and limits. */

import type { RuleId } from './rule.ts'

export interface CheckOptions {
  /** Answers the requests: that of a service in the same process, say. Default: real sockets. */
  readonly fetch?: ((request: Request) => Response | Promise<Response>) | undefined
  /** The rules to try. Default: all. */
  readonly rules?: readonly RuleId[] | undefined
  /** Names of collections under `url`, which is then the base URL. Default: `url` is a collection or an entry point. */
  readonly collections?: readonly string[] | undefined
  /** What links should begin with, where the server is reached under another address. Default: the address itself. */
  readonly baseUrl?: string | undefined
  /** D rules decide too. Default: false, they warn. */
  readonly strict?: boolean | undefined
  /** Read all pages. Default: false, a sample of them. */
  readonly walk?: boolean | undefined
  /** A bearer token for every request. Default: none. */
  readonly token?: string | undefined
  /** Certificates of authorities to trust besides the usual ones, in PEM form; not for `fetch`. Default: none. */
  readonly ca?: string | undefined
  /** Requests for each collection at most, without those of a walk. Default: 60. */
  readonly requests?: number | undefined
  /** Requests at a time. Default: 4. */
  readonly concurrency?: number | undefined
  /** Pause between the beginnings of two requests. Default: 0. */
  readonly delayMs?: number | undefined
  /** The longest wait for one answer. Default: 10,000. */
  readonly timeoutMs?: number | undefined
  /** The longest run. Default: 120,000, and 3,600,000 for a walk. */
  readonly timeLimitMs?: number | undefined
  /** The largest body that is read, unpacked. Default: 67,108,864. */
  readonly answerBytes?: number | undefined
  /** Ends the run, which then rejects with its reason. Default: none. */
  readonly signal?: AbortSignal | undefined
  /** Called for every page that is read. Default: nobody is told. */
  readonly onPage?: ((collection: string, page: number, last: number) => void) | undefined
}

export const CHECK_DEFAULTS = {
  requests: 60,
  concurrency: 4,
  delayMs: 0,
  timeoutMs: 10_000,
  timeLimitMs: 120_000,
  answerBytes: 64 * 1024 * 1024,
}
export const WALK_TIME_LIMIT_MS = 3_600_000

/** A URL or an option that cannot be used. */
export class WrongUse extends TypeError {
  override readonly name = 'WrongUse'
}

/** The limits in force. */
export function limitsOf(options: CheckOptions) {
  const limits = { ...CHECK_DEFAULTS, ...(options.walk && { timeLimitMs: WALK_TIME_LIMIT_MS }) }
  for (const name of Object.keys(limits) as (keyof typeof limits)[]) {
    const min = name === 'delayMs' ? 0 : 1
    limits[name] = options[name] ?? limits[name]
    if (!(Number.isFinite(limits[name]) && limits[name] >= min))
      throw new WrongUse(`Invalid "${name}": expected a number of at least ${min}, got ${limits[name]}.`)
  }
  return limits
}

const EXAMPLE = 'Expected one such as https://api.example.com/events.'

/** The URL to check. No message shows what may be a password. */
export function parseAddress(text: string): URL {
  const shown = text.includes('@') ? 'This' : `"${text}"`
  if (!URL.canParse(text)) throw new WrongUse(`${shown} is not an absolute URL. ${EXAMPLE}`)
  const url = new URL(text)
  const { protocol, username, password } = url
  if (username + password !== '')
    throw new WrongUse(`The URL contains a user name or a password: leave them out. ${EXAMPLE}`)
  if (protocol !== 'http:' && protocol !== 'https:')
    throw new WrongUse(`${shown} begins with ${protocol}, expected http: or https:. ${EXAMPLE}`)
  if (/[?#]/.test(text)) throw new WrongUse(`The URL has a query or a fragment. ${EXAMPLE}`)
  return url
}
