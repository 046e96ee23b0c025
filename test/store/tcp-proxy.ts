/** A proxy in front of a server, for tests that cut connections at a chosen moment. */

import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/**
 * What is done with a piece of data on its way to the server: passed on, swallowed, or the connection is cut before or
 * after it, or after so many bytes of it.
 */
export type Verdict = 'pass' | 'swallow' | 'cut before' | 'cut after' | number

export interface TcpProxy {
  readonly port: number
  /** Judges what clients send. At first everything passes. */
  judge: (data: Buffer) => Verdict
  /** Whether new connections are taken. */
  isOpen: boolean
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
  const server = createServer({ noDelay: true }, (client) => {
    if (!proxy.isOpen) {
      client.destroy()
      return
    }
    const target = connect({ port, host, noDelay: true })
    for (const socket of [client, target]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
    }
    client.on('close', () => target.end())
    target.on('close', () => client.destroy())
    const answer = newAnswers()
    target.on('data', (data) => client.writable && client.write(answer(data)))
    client.on('data', (data) => {
      const verdict = proxy.judge(data)
      if (verdict === 'pass' || verdict === 'cut after') target.write(data)
      if (typeof verdict === 'number') target.write(data.subarray(0, verdict))
      if (verdict !== 'pass' && verdict !== 'swallow') client.destroy()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port.')
  const proxy: TcpProxy = {
    port: address.port,
    judge: () => 'pass',
    isOpen: true,
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
