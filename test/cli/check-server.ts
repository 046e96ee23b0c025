/** Small servers for `reams check`: one that keeps the C rules and little else, to be spoilt by each test. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

export type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** Answers its address; the server and its connections end with the test. */
export async function startHttp(t: TestContext, handler: Handler): Promise<string> {
  const server = createServer(handler)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export interface EventsOptions {
  readonly items?: number
  /** What links begin with. Default: the Host of the request. */
  readonly baseUrl?: string
  /** What a page beyond the last one answers, in place of the last one. */
  readonly beyond?: Handler
  /** More fields of `_links`. */
  readonly links?: Readonly<Record<string, unknown>>
}

/** A collection `events` that keeps every C rule, in pages of 500, without ETags and problem details. */
export function events(options: EventsOptions = {}): Handler {
  const { items = 1234, baseUrl, beyond, links = {} } = options
  const last = Math.max(1, Math.ceil(items / 500))
  return (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://any')
    if (pathname !== '/events') return void response.writeHead(404).end('nothing here')
    const asked = BigInt(/^[0-9]+$/.exec(searchParams.get('page') ?? '')?.[0] || 1)
    if (asked > last && beyond !== undefined) return beyond(request, response)
    const page = asked > last ? last : Math.max(1, Number(asked))
    const url = `${baseUrl ?? `http://${request.headers.host}`}/events`
    const href = (number: number) => ({ href: `${url}?page=${number}` })
    const ids = Array.from({ length: Math.min(500, items - 500 * (page - 1)) }, (_, index) => 500 * (page - 1) + index)
    response.writeHead(200, { 'content-type': 'application/json' }).end(
      JSON.stringify({
        item_count: items,
        _links: {
          first: { href: url },
          ...(page > 1 && { prev: href(page - 1) }),
          ...(page < last && { next: href(page + 1) }),
          last: href(last),
          ...links,
        },
        _embedded: { events: ids.map((id) => ({ id })) },
      }),
    )
  }
}
