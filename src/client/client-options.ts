/** What a client can be told, its defaults, and the check of it. */

export interface ClientOptions {
  /** Answers the requests, such as that of a service in the same process. Default: the built-in `fetch`. */
  readonly fetch?: ((request: Request) => Response | Promise<Response>) | undefined
  /** A bearer token for every request. It goes to no other origin. */
  readonly token?: string | undefined
  /** Further headers for every request. They go to no other origin either. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Requests at a time, at most, and pages read ahead. Fewer while the server answers 429 or 503. Default: 4. */
  readonly concurrency?: number | undefined
  /** For one page, from the request to its last byte. Default: 60,000. */
  readonly timeoutMs?: number | undefined
  /** Of one page, unpacked, at most. Default: 64 MiB. */
  readonly pageBytes?: number | undefined
  /** Other origins to which links may point and redirects may lead. Default: none. */
  readonly allowedOrigins?: readonly string[] | undefined
  /** How often a request is sent again, and after how long. Default: DEFAULT_RETRY. */
  readonly retry?: Partial<RetryPolicy> | undefined
  /** Told before a request is sent again. */
  readonly onRetry?: ((retry: Retry) => void) | undefined
}

export interface RetryPolicy {
  /** How often one request is sent again, at most. */
  readonly retries: number
  /** The longest pause before the first of them; each later one is twice as long, up to `mostDelayMs`. */
  readonly firstDelayMs: number
  readonly mostDelayMs: number
  /** The longest pause that a server can ask for by `Retry-After`; one that asks for more is not asked again. */
  readonly mostRetryAfterMs: number
}

/** What holds unless it is said otherwise. */
export const DEFAULT_RETRY: RetryPolicy = {
  retries: 8,
  firstDelayMs: 250,
  mostDelayMs: 15_000,
  mostRetryAfterMs: 120_000,
}

/** What the client can read. */
export const ACCEPTED = 'application/hal+json, application/json;q=0.9'

export interface Retry {
  readonly url: string
  /** 1 for the first time that the request is sent again. */
  readonly retry: number
  readonly delayMs: number
  /** Why: what came instead of the page. */
  readonly error: unknown
}

/** The options with their defaults. */
export interface Settings {
  readonly fetch: (request: Request) => Response | Promise<Response>
  readonly headers: Headers
  readonly concurrency: number
  readonly timeoutMs: number
  readonly pageBytes: number
  readonly allowedOrigins: ReadonlySet<string>
  readonly retry: RetryPolicy
  readonly onRetry: (retry: Retry) => void
}

/** Throws a TypeError for an option that cannot be used. */
export function settingsOf(options: ClientOptions): Settings {
  // In a browser `fetch` must be called as it is, not as a method of something else.
  const { fetch = (request) => globalThis.fetch(request), token, allowedOrigins = [] } = options
  const { concurrency = 4, timeoutMs = 60_000, pageBytes = 2 ** 26, onRetry = () => {} } = options
  if (!Number.isInteger(concurrency)) throw new TypeError(`The option concurrency is ${concurrency}, not whole.`)
  for (const [name, value] of Object.entries({ concurrency, timeoutMs, pageBytes })) checkNumber(name, value, 1)
  const retry = { ...DEFAULT_RETRY }
  for (const name of Object.keys(retry) as (keyof RetryPolicy)[]) {
    retry[name] = options.retry?.[name] ?? retry[name]
    checkNumber(name, retry[name], 0)
  }
  if (token !== undefined && !/^[!-~]+$/.test(token))
    throw new TypeError('The token is empty, or holds a character that no token can have.')
  const headers = new Headers({ Accept: ACCEPTED })
  for (const [name, value] of Object.entries(options.headers ?? {})) setHeader(headers, name, value)
  if (token !== undefined) headers.set('Authorization', `Bearer ${token}`)
  return {
    fetch,
    headers,
    concurrency,
    timeoutMs,
    pageBytes,
    allowedOrigins: new Set(allowedOrigins.map(originOf)),
    retry,
    onRetry,
  }
}

function checkNumber(name: string, value: number, least: number): void {
  if (!(value >= least)) throw new TypeError(`The option ${name} is ${value}. Give ${least} or more.`)
}

/** The error of the headers themselves would show the value, which may be a secret. */
function setHeader(headers: Headers, name: string, value: string): void {
  try {
    headers.set(name, value)
  } catch {
    throw new TypeError(`The option headers holds "${name}", with a character that no header can have.`)
  }
}

function originOf(text: string): string {
  const { origin } = URL.canParse(text) ? new URL(text) : { origin: 'null' }
  if (origin === 'null')
    throw new TypeError(`The option allowedOrigins holds "${text}". Give origins such as https://api.example.com.`)
  return origin
}
