/** A request as the service takes it, whichever server it came through; and the parts of its target, nothing decoded. */

export interface Incoming {
  readonly method: string
  /** Path and query, nothing decoded. Begins with a slash. */
  readonly target: string
  /** The host that the client asked for; null where it named none. */
  readonly host: string | null
  readonly headers: Pick<Headers, 'get' | 'has'>
  /** Hands over the body, piece by piece. Rejects when it breaks off, or with what `take` throws. */
  readBody(take: (chunk: Uint8Array) => void): Promise<void>
}

/** From a `Request`, as a server that speaks `fetch` hands it over. */
export function incomingOf(request: Request): Incoming {
  const { method, url, headers } = request
  return {
    method,
    // The first slash behind the host, which is at least one character long.
    target: url.slice(url.indexOf('/', 'https://'.length)),
    host: headers.get('host'),
    headers,
    async readBody(take) {
      for await (const chunk of request.body ?? []) take(chunk)
    },
  }
}

export function isRead({ method }: { readonly method?: string | undefined }): boolean {
  return method === 'GET' || method === 'HEAD'
}

/**
 * The path that is routed. A request whose path begins with the path of the base URL has that taken off; any other is
 * routed as it is, because a proxy or the app around us took it off already.
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
  // Nearly always, and much faster.
  if (query.startsWith(`${name}=`) && /^\w+$/.test(query.slice(name.length + 1))) return [query.slice(name.length + 1)]
  return new URLSearchParams(query.replaceAll('+', '%2B')).getAll(name)
}

function pathEnd(target: string): number {
  const end = target.search(/[?#]/)
  return end === -1 ? target.length : end
}
