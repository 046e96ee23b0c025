/** Clients who open a connection and then do nothing: the server has to close it when its time is over. */

import { openSocket } from '../service/raw-http.ts'

const HALF_A_HEAD = 'GET /-/health HTTP/1.1\r\nHost: local'
const WHOLE_REQUEST = 'GET /-/health HTTP/1.1\r\nHost: localhost\r\n\r\n'
const STATES = { silent: '', 'in the midst of a head': HALF_A_HEAD, 'idle after an answer': WHOLE_REQUEST }

/** Which connections are still open after `limitMs`, in words. */
export async function leftOpen(port: number, limitMs: number): Promise<string[]> {
  const open = await Promise.all(
    Object.entries(STATES).map(async ([state, sent]) => ((await isClosed(port, sent, limitMs)) ? [] : [state])),
  )
  return open.flat().map((state) => `a connection that is ${state} is not closed in time`)
}

async function isClosed(port: number, sent: string, limitMs: number): Promise<boolean> {
  const socket = await openSocket(port)
  socket.on('error', () => {})
  socket.resume()
  socket.write(sent)
  const { promise: closed, resolve } = Promise.withResolvers<boolean>()
  socket.once('close', () => resolve(true))
  const timer = setTimeout(resolve, limitMs, false)
  try {
    return await closed
  } finally {
    clearTimeout(timer)
    socket.destroy()
  }
}
