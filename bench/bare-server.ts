/** The least that can be done: `bare-server.ts URL ENCODING` answers everything with the bytes and headers that URL gave. */

import { createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

const [url = '', encoding = ''] = process.argv.slice(2)

function ask(headers: Record<string, string>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request(url, { headers: { 'Accept-Encoding': encoding, ...headers } }, resolve)
      .on('error', reject)
      .end()
  })
}

/** Without those that Node sets itself. */
function headersOf({ headers: { date: _, connection: __, 'keep-alive': ___, ...headers } }: IncomingMessage) {
  return headers
}

const whole = await ask({})
const [headers, body] = [headersOf(whole), await buffer(whole)]
const known = await ask({ 'If-None-Match': headers.etag ?? '' })
known.resume()
const knownHeaders = headersOf(known)

const server = createServer((incoming, outgoing) => {
  if (incoming.headers['if-none-match'] === undefined) outgoing.writeHead(200, headers).end(body)
  else outgoing.writeHead(304, knownHeaders).end()
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
process.once('SIGTERM', () => process.exit())
