import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { it } from 'node:test'
import { Session } from '../../src/explorer/browser/session.ts'

/** The part of XMLHttpRequest that a session uses: Node.js has none. */
class Request {
  status = 0
  response = ''
  onload = () => {}
  readonly #headers = new Headers()
  #url = ''

  open(_method: string, url: string): void {
    this.#url = url
  }

  setRequestHeader(name: string, value: string): void {
    this.#headers.set(name, value)
  }

  async send(): Promise<void> {
    const response = await fetch(this.#url, { headers: this.#headers })
    this.status = response.status
    this.response = await response.text()
    this.onload()
  }
}

it('a late 401 for the previous token does not reject the current one', async (t) => {
  Object.assign(globalThis, { XMLHttpRequest: Request })
  const late = Promise.withResolvers<ServerResponse>()
  const server = createServer((request, response) => {
    if (request.headers.authorization === 'Bearer old') late.resolve(response)
    else response.end('{}')
  })
  server.listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const session = new Session(url)
  session.token = 'old'
  const refused = assert.rejects(session.text(url), /status 401/)
  const response = await late.promise
  session.token = 'new'
  await session.text(url)
  assert.equal(session.isAccepted, true)
  response.writeHead(401).end()
  await refused
  assert.equal(session.isAccepted, true)
})
