/** Connections that are reset: after whichever bytes, and at every point of a request and of its answer. */

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** What makes Node hand a socket over, wait, or give up. */
export const OPENINGS: readonly string[] = [
  'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n',
  'GET /events HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  'GET /events HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAA\r\n\r\n',
  'POST /events HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n',
  'POST /events HTTP/1.1\r\nHost: localhost\r\nExpect: wonders\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab',
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 a TLS greeting',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'GET /big HTTP/1.1\r\nHost: localhost\r\n\r\n',
  `${'GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(40)}NONSENSE\r\n\r\n`,
]

/** Resets one connection after the first `length` bytes of the text, after so many turns of our event loop. */
export async function resetAfter(port: number, text: string, length: number, turns: number): Promise<void> {
  const socket = await quietSocket(port)
  socket.write(text.slice(0, length), 'latin1')
  for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate)
  socket.resetAndDestroy()
}

/** Resets one connection when so many bytes of its answer have come. */
export async function resetInAnswer(port: number, text: string, bytes: number): Promise<void> {
  const socket = await quietSocket(port)
  socket.write(text, 'latin1')
  let received = 0
  socket.on('data', (chunk) => {
    received += chunk.length
    if (received >= bytes) socket.resetAndDestroy()
  })
  await once(socket, 'close')
}

async function quietSocket(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  await once(socket, 'connect')
  return socket
}
