/** A directory that lives as long as the process at most, however the process ends, short of being killed. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Failure } from './failure.ts'

export class TemporaryDirectory {
  readonly path: string

  constructor(parent: string = tmpdir(), prefix = 'reams-') {
    try {
      this.path = mkdtempSync(join(parent, prefix))
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw new Failure(
        3,
        `Cannot create a temporary directory in ${parent}: ${reason}. Set TMPDIR to another directory.`,
      )
    }
    process.on('exit', this.#remove)
  }

  // Synchronous, because nothing else runs at exit; a function of its own, so that it can be taken off the listeners.
  readonly #remove = (): void => {
    rmSync(this.path, { recursive: true, force: true })
  };

  [Symbol.dispose](): void {
    process.off('exit', this.#remove)
    this.#remove()
  }
}
