/** The port that all workers share. */

import type { Worker } from 'node:cluster'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Server as NetServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { acceptWaiting } from '../../../service/node/listen.ts'

/** When none was handed to a worker for so long, no connection waits in the first process. */
const HANDOVER_MS = 100

/**
 * This process accepts the connections, and Node hands each worker one at a time.
 *
 * When the last worker stops listening, Node closes the connections that it has not handed over yet. So the port is closed before,
 * and the workers listen on until they have them all.
 */
export class SharedPort {
  readonly #number: number
  #handle: { close(): void } | undefined
  #handedOver = 0
  #handedOverAt = 0

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
      this.#handedOverAt = performance.now()
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

  /** Resolves when all its connections have been handed over. */
  async close(): Promise<void> {
    unsubscribe('tracing:net.server.listen:asyncEnd', this.#onListen)
    await acceptWaiting(() => this.#handedOver)
    this.#handle?.close()
    for (let now = performance.now(); now - this.#handedOverAt < HANDOVER_MS; now = performance.now()) await sleep(10)
  }
}

function isHandle(value: unknown): value is { close(): void } {
  return value instanceof Object && 'close' in value && typeof value.close === 'function'
}
