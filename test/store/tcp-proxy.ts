/** A proxy in front of a server, for tests that cut connections at a chosen moment, or let them stand still. */

import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/**
 * What is done with a piece of data on its way: passed on, swallowed, or the connection is cut before or after it, or after
 * so many bytes of it.
 */
export type Verdict = 'pass' | 'swallow' | 'cut before' | 'cut after' | number

export interface TcpProxy {
  readonly port: number
  /** Where connections lead that are made from now on. */
  targetPort: number
  /** Judges what clients send. At first everything passes. */
  judge: (data: Buffer) => Verdict
  /** Judges what the server answers. At first everything passes. */
  judgeAnswer: (data: Buffer) => Verdict
  /** Whether new connections are taken. */
  isOpen: boolean
  /** From now on nothing moves, in no connection, and nobody notices the end of another one. */
  hold(): void
  /** Everything goes on, with what has come meanwhile. */
  release(): void
  cutAll(): void
  close(): Promise<void>
}

/** What the server answers on a connection passes through a function that `newAnswers` makes for it. */
export async function startProxy(
  host: string,
  port: number,
  newAnswers: () => (data: Buffer) => Buffer = () => (data) => data,
): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  let isHeld = false
  const server = createServer({ noDelay: true }, (client) => {
    if (!proxy.isOpen) {
      client.destroy()
      return
    }
    const target = connect({ port: proxy.targetPort, host, noDelay: true })
    for (const socket of [client, target]) {
      sockets.add(socket)
      if (isHeld) socket.pause()
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
    }
    client.on('close', () => target.end())
    target.on('close', () => client.destroySoon())
    const answer = newAnswers()
    const pass = (data: Buffer, to: Socket, verdict: Verdict, cut: () => void) => {
      if (!to.writable) return
      if (verdict === 'pass' || verdict === 'cut after') to.write(data)
      if (typeof verdict === 'number') to.write(data.subarray(0, verdict))
      if (verdict !== 'pass' && verdict !== 'swallow') cut()
    }
    // What was passed on to the client before the cut arrives there.
    const cutAnswer = () => {
      client.destroySoon()
      target.destroy()
    }
    target.on('data', (data) => pass(answer(data), client, proxy.judgeAnswer(data), cutAnswer))
    client.on('data', (data) => pass(data, target, proxy.judge(data), () => client.destroy()))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port.')
  const proxy: TcpProxy = {
    port: address.port,
    targetPort: port,
    judge: () => 'pass',
    judgeAnswer: () => 'pass',
    isOpen: true,
    hold() {
      isHeld = true
      for (const socket of sockets) socket.pause()
    },
    release() {
      isHeld = false
      for (const socket of sockets) socket.resume()
    },
    cutAll() {
      for (const socket of sockets) socket.destroy()
    },
    async close() {
      proxy.cutAll()
      server.close()
      await once(server, 'close')
    },
  }
  return proxy
}
