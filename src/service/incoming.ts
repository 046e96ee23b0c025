/** A request as the service takes it, from whichever server; and the parts of its target, not decoded. */

export interface Incoming {
  readonly method: string
  /** Path and query, not decoded. Begins with a slash. */
  readonly target: string
  /** The host that the client asked for; null if it named none. */
  readonly host: string | null
  readonly headers: Pick<Headers, 'get' | 'has'>
  /** The address at the other end of the connection, which can be a proxy; null if it is not known. */
  readonly remoteAddress: string | null
  /** Aborted when nobody should wait any longer before this is answered: the client is gone, for one, or the server closes. */
  readonly signal: AbortSignal
  /** Calls `take` with each chunk of the body. Rejects when the body is incomplete, or with what `take` throws. */
  readBody(take: (chunk: Uint8Array) => void): Promise<void>
}

/** What a `Request` does not say. */
export interface RequestSource {
  /** The address at the other end of the connection. */
  readonly remoteAddress?: string | undefined
}

/** From a `Request`, as a server that speaks `fetch` hands it over, some with an object of their own behind it. */
export function incomingOf(request: Request, from: RequestSource | object = {}): Incoming {
  const { method, url, headers } = request
  const remoteAddress = 'remoteAddress' in from ? from.remoteAddress : undefined
  return {
    method,
    // The first slash behind the host, which is at least one character long.
    target: url.slice(url.indexOf('/', 'https://'.length)),
    host: headers.get('host'),
    headers,
    remoteAddress: typeof remoteAddress === 'string' ? remoteAddress : null,
    // Some servers make it only when it is asked for.
    get signal() {
      return request.signal
    },
    async readBody(take) {
      for await (const chunk of request.body ?? []) take(chunk)
    },
  }
}

export function isRead({ method }: { readonly method?: string | undefined }): boolean {
  return method === 'GET' || method === 'HEAD'
}

/**
 * The path to route by: without the path of the base URL if it begins with that; otherwise as it is, because a proxy or the
 * app around us has taken it off already.
 */
export function routedPath(target: string, basePath: string): string {
  const path = target.slice(0, pathEnd(target))
  if (basePath === '' || !path.startsWith(basePath)) return path
  const rest = path.slice(basePath.length)
  if (rest === '') return '/'
  return rest.startsWith('/') ? rest : path
}

/** The values of a query parameter, in order. A `+` stays a plus sign, so that messages show what was sent. */
export function queryValues(target: string, name: string): string[] {
  const end = pathEnd(target)
  if (target[end] !== '?') return []
  const [query = ''] = target.slice(end + 1).split('#', 1)
  // The common case, and much faster.
  if (query.startsWith(`${name}=`) && /^\w+$/.test(query.slice(name.length + 1))) return [query.slice(name.length + 1)]
  return new URLSearchParams(query.replaceAll('+', '%2B')).getAll(name)
}

function pathEnd(target: string): number {
  const end = target.search(/[?#]/)
  return end === -1 ? target.length : end
}
