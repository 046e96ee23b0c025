/** The options of a client, their defaults and their checks. */

export interface ClientOptions {
  /** Sends the requests; can be that of a service in the same process. Default: the built-in `fetch`. */
  readonly fetch?: ((request: Request) => Response | Promise<Response>) | undefined
  /** A bearer token for every request. It is never sent to another origin. */
  readonly token?: string | undefined
  /** More headers for every request. They are never sent to another origin either. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The most requests at a time, and pages read ahead. Fewer while the server answers 429 or 503. Default: 4. */
  readonly concurrency?: number | undefined
  /** The deadline for one page, from the request to its last byte. Default: 60,000. */
  readonly timeoutMs?: number | undefined
  /** The largest page, uncompressed. Default: 64 MiB. */
  readonly pageBytes?: number | undefined
  /** Other origins to which links may point and redirects may lead. Default: none. */
  readonly allowedOrigins?: readonly string[] | undefined
  /** How often a request is sent again, and after how long. Default: DEFAULT_RETRY. */
  readonly retry?: Partial<RetryPolicy> | undefined
  /** Called before a request is sent again. */
  readonly onRetry?: ((retry: Retry) => void) | undefined
}

export interface RetryPolicy {
  /** How often one request is sent again, at most. */
  readonly retries: number
  /** The longest pause before the first of them; each later one is twice as long, up to `maxDelayMs`. */
  readonly firstDelayMs: number
  readonly maxDelayMs: number
  /** The longest `Retry-After` that is waited for; after a longer one the request fails. */
  readonly maxRetryAfterMs: number
}

/** The policy of a client that sets no other. */
export const DEFAULT_RETRY: RetryPolicy = {
  retries: 8,
  firstDelayMs: 250,
  maxDelayMs: 15_000,
  maxRetryAfterMs: 120_000,
}

/** What the client can read. */
export const ACCEPTED = 'application/hal+json, application/json;q=0.9'

export interface Retry {
  readonly url: string
  /** 1 for the first time that the request is sent again. */
  readonly retry: number
  readonly delayMs: number
  /** Why the request failed. */
  readonly error: unknown
}

/** Throws a TypeError for an option that cannot be used. */
export function settingsOf(options: ClientOptions) {
  // In a browser `fetch` must be called as it is, not as a method of something else.
  const { fetch = (request: Request) => globalThis.fetch(request), token, allowedOrigins = [] } = options
  const { concurrency = 4, timeoutMs = 60_000, pageBytes = 2 ** 26, onRetry = () => {} } = options
  if (!Number.isInteger(concurrency))
    throw new TypeError(`Invalid option concurrency: expected a whole number, got ${concurrency}.`)
  for (const [name, value] of Object.entries({ concurrency, timeoutMs, pageBytes })) checkNumber(name, value, 1)
  const retry = { ...DEFAULT_RETRY }
  for (const name of Object.keys(retry) as (keyof RetryPolicy)[]) {
    retry[name] = options.retry?.[name] ?? retry[name]
    checkNumber(name, retry[name], 0)
  }
  if (token !== undefined && !/^[!-~]+$/.test(token))
    throw new TypeError('Invalid option token: expected visible ASCII characters.')
  const headers = new Headers({ Accept: ACCEPTED })
  for (const [name, value] of Object.entries(options.headers ?? {})) setHeader(headers, name, value)
  if (token !== undefined) headers.set('Authorization', `Bearer ${token}`)
  const origins: ReadonlySet<string> = new Set(allowedOrigins.map(originOf))
  return { fetch, headers, concurrency, timeoutMs, pageBytes, allowedOrigins: origins, retry, onRetry }
}

/** The options with their defaults. */
export type Settings = ReturnType<typeof settingsOf>

function checkNumber(name: string, value: number, min: number): void {
  if (!(value >= min)) throw new TypeError(`Invalid option ${name}: expected ${min} or more, got ${value}.`)
}

/** The error that Headers throws would show the value, which may be a secret. */
function setHeader(headers: Headers, name: string, value: string): void {
  try {
    headers.set(name, value)
  } catch {
    throw new TypeError(`Invalid option headers: "${name}" has a character that no header can have.`)
  }
}

function originOf(text: string): string {
  const { origin } = URL.canParse(text) ? new URL(text) : { origin: 'null' }
  if (origin === 'null')
    throw new TypeError(
      `Invalid option allowedOrigins: expected origins such as https://api.example.com, got "${text}".`,
    )
  return origin
}
