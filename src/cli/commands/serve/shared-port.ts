/** The port that all workers share. */

import type { Worker } from 'node:cluster'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Server as NetServer } from 'node:net'
import { acceptWaiting } from '../../../service/node/listen.ts'

/** A message that a worker returns at once: everything sent to it before has then arrived. */
const PING = 'ping'

/**
 * This process accepts the connections, and Node hands each worker one at a time.
 *
 * When the last worker stops listening, Node closes the connections that it has not handed over yet. So the port is closed first,
 * and the workers keep listening until they have them all.
 */
export class SharedPort {
  readonly #number: number
  #handle: { close(): void } | undefined
  #handedOver = 0

  constructor(number: number) {
    this.#number = number
    subscribe('tracing:net.server.listen:asyncEnd', this.#onListen)
  }

  readonly #onListen = (message: unknown): void => {
    const { server } = message as { server: NetServer & { readonly _handle?: unknown } }
    const bound = server.address()
    if (bound instanceof Object && bound.port === this.#number && isHandle(server._handle))
      this.#handle = server._handle
  }

  /**
   * If the worker dies before it takes a connection, the connection would stay open for ever, with nobody at its end: so the last
   * one handed over is closed when the worker has ended. Node has closed those that were taken.
   */
  handOverTo({ process: child }: Worker): void {
    let closeLast = (): void => {}
    const handOver = (handle: { close(): void }): void => {
      closeLast = () => handle.close()
      this.#handedOver++
    }
    child.send = new Proxy(child.send, {
      apply(send, self, values: unknown[]) {
        const [, handle] = values
        if (isHandle(handle)) handOver(handle)
        if (child.exitCode !== null || child.signalCode !== null) closeLast()
        return Reflect.apply(send, self, values)
      },
    })
    child.once('exit', () => closeLast())
  }

  /**
   * Resolves when all its connections have been handed over. A worker gets the next one as soon as it has taken the last, so
   * none waits here if all workers return a ping and none got a connection meanwhile.
   */
  async close(workers: Iterable<Worker>): Promise<void> {
    unsubscribe('tracing:net.server.listen:asyncEnd', this.#onListen)
    await acceptWaiting()
    this.#handle?.close()
    for (let before = -1; before !== this.#handedOver; ) {
      before = this.#handedOver
      await Promise.all([...workers].map(ping))
    }
  }
}

/** In a worker. */
export function returnPings(): void {
  process.on('message', (message) => {
    if (message === PING) process.send?.(PING)
  })
}

/** Also resolves when the worker is gone. */
function ping(worker: Worker): Promise<void> {
  return new Promise((resolve) => {
    if (!worker.isConnected()) return resolve()
    const onMessage = (message: unknown): void => {
      if (message === PING) done()
    }
    const done = (): void => {
      worker.off('message', onMessage).off('disconnect', done)
      resolve()
    }
    worker.on('message', onMessage).once('disconnect', done)
    worker.send(PING, (error) => error && done())
  })
}

function isHandle(value: unknown): value is { close(): void } {
  return value instanceof Object && 'close' in value && typeof value.close === 'function'
}
