/**
 * Servers for tests of the client, in the same process, and what reads them: one that keeps the contract, changed from request to request, and
 * one that breaks it in a way of its own. What needs a socket is in the tests themselves.
 */

import { openCollection, type Page, type WalkState } from '../../src/client/index.ts'
import { inProcess as answerInProcess, CorrectServer, type Links, type ServerOptions } from '../check/correct-server.ts'

export const BASE = 'http://events.example'
export const EVENTS = `${BASE}/events`

/** Called before a request is answered; `number` counts them from 1. A Response that it gives is the answer instead. */
export type Hook = (request: Request, number: number) => unknown

export interface InProcess {
  readonly server: CorrectServer
  readonly fetch: (request: Request) => Promise<Response>
  /** The requests that came. */
  readonly requests: Request[]
}

/** A server that is called instead of sent requests to. */
export function inProcess(server: CorrectServer, hook: Hook = () => {}): InProcess {
  const answer = answerInProcess(server, BASE)
  const requests: Request[] = []
  const fetch = async (request: Request) => {
    const answered = await hook(request, requests.push(request))
    if (answered instanceof Response) return answered
    // Nobody unpacks what does not come through a socket.
    const plain = new Request(request)
    plain.headers.set('accept-encoding', 'identity')
    return answer(plain)
  }
  return { server, fetch, requests }
}

/** The numbers of the pages that were asked for, in order. */
export function pagesAsked(requests: readonly Request[]): number[] {
  return requests.map(({ url }) => Number(new URL(url).searchParams.get('page')))
}

/** A right server, except that its envelopes pass through `distort`. */
export function distorted(distort: (envelope: Links, page: number) => unknown, options: ServerOptions = {}): InProcess {
  class Distorted extends CorrectServer {
    override serialize(document: unknown): string {
      const envelope = document as Links
      const { self } = (envelope['_links'] ?? {}) as { self?: { href: string } }
      const page = Number(new URL(self?.href ?? BASE).searchParams.get('page') ?? 1)
      const wrong = distort(envelope, page)
      return typeof wrong === 'string' ? wrong : super.serialize(wrong)
    }
  }
  return inProcess(new Distorted(options))
}

/** The envelope with other links; undefined takes one away. */
export function relinked(envelope: Links, links: Links): Links {
  return { ...envelope, _links: { ...(envelope['_links'] as Links), ...links } }
}

export interface Event {
  readonly id: number
  readonly title: string
}

/** Reads all items, and returns how many they are. */
export async function countItems(url: string, options: Parameters<typeof openCollection>[1]): Promise<number> {
  return (await Array.fromAsync(openCollection(url, options).items())).length
}

/** The items that a pull returned, and its position. */
export class Copy<Item = unknown> {
  readonly items: Item[] = []
  restarts = 0
  state: WalkState | undefined

  page(page: Page<Item>, { first, state }: { first: number; state: WalkState }): void {
    this.items.push(...page.items.slice(first))
    // What is kept between two runs is kept as text.
    this.state = JSON.parse(JSON.stringify(state))
  }

  restart(): void {
    this.restarts++
    this.items.length = 0
  }
}

/** For a pull of which only the result matters. */
export const NO_COPY = { page: () => {}, restart: () => {} }
