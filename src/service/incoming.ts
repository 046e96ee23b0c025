/** A request as the service takes it, whichever server it came through. */

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
