/** The store's end of the writer thread: typed calls that resolve when they are durable. */

import { StoreError } from '../../store-error.ts'
import { Thread } from '../../thread.ts'
import type { FilePlace } from '../file/store-file.ts'
import { SweepNeeded } from './lease.ts'
import type { Steps } from './steps.ts'
import { type Outcome, type StepName, unpackError, type WriterCall } from './writer-message.ts'

export class Writer {
  readonly #place: FilePlace
  #thread: Thread<WriterCall, Outcome> | undefined
  #isClosed = false

  constructor(place: FilePlace) {
    this.#place = place
  }

  step<Name extends StepName>(
    operation: Name,
    ...parameters: Parameters<Steps[Name]>
  ): Promise<ReturnType<Steps[Name]>> {
    return this.ask({ operation, parameters })
  }

  async ask<T>(call: WriterCall): Promise<T> {
    for (;;) {
      if (this.#isClosed) throw new StoreError('closed', 'The store is closed.')
      const outcome = await this.#started().ask(call)
      if (!('failure' in outcome)) return outcome.value as T
      const error = unpackError(outcome.failure)
      if (!(error instanceof SweepNeeded)) throw error
      await this.sweep()
    }
  }

  /** Removes everything that is left over, in many small commits. */
  async sweep(): Promise<void> {
    while (await this.step('sweep'));
  }

  /** Ends the thread after the calls that were made before. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#thread?.close()
  }

  /** After a thread that was lost the next call starts a new one. */
  #started(): Thread<WriterCall, Outcome> {
    const onEnd = (): void => {
      this.#thread = undefined
    }
    this.#thread ??= new Thread(import.meta.url, 'writer-thread', { data: this.#place, isBatching: true, onEnd })
    return this.#thread
  }
}
