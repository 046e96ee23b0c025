/** `--report FILE`: the items that an import skipped, a JSON object on each line. The file is there once the import has succeeded. */

import { join } from 'node:path'
import type { InputBatch } from '../items/item-reader.ts'
import { splitItems } from '../store/item-text.ts'
import { Failure } from './failure.ts'
import { outputTarget } from './files/output-target.ts'
import { explainWriting, PartFile, temporaryDirectoryFor } from './files/part-file.ts'
import type { Input } from './input.ts'
import type { SettingValues } from './setting-values.ts'
import type { TemporaryDirectory } from './temporary-directory.ts'

export class SkipReport {
  readonly #path: string
  readonly #directory: TemporaryDirectory
  readonly #file: PartFile
  readonly #encoder = new TextEncoder()

  private constructor(path: string, directory: TemporaryDirectory, file: PartFile) {
    this.#path = path
    this.#directory = directory
    this.#file = file
  }

  /** Undefined where none is asked for. */
  static async open(settings: SettingValues): Promise<SkipReport | undefined> {
    const name = settings.get('report')
    if (name === undefined) return undefined
    if (settings.get('onConflict') !== 'skip') {
      // A variable is for the imports that skip.
      if (settings.origin('report') === 'environment') return undefined
      throw new Failure(
        2,
        '--report lists the items that --on-conflict skip leaves out: add that, or leave out --report.',
      )
    }
    const { path, isFile, isThere, isPacked } = await outputTarget(name)
    if (path === undefined || !isFile) throw new Failure(2, `${name} is not a file, and the report needs one.`)
    if (isThere) throw new Failure(2, `${path} already exists. Name another file for the report.`)
    const directory = temporaryDirectoryFor(path)
    try {
      const file = await PartFile.open({ target: path, path: join(directory.path, 'part'), isPacked })
      return new SkipReport(path, directory, file)
    } catch (error) {
      directory[Symbol.dispose]()
      throw explainWriting(error, path)
    }
  }

  /** The items of a batch with these indexes, in the order of the input; `before` items come before the batch. */
  async add({ run, lines }: InputBatch, skipped: readonly number[], { unit }: Input, before: number): Promise<void> {
    if (skipped.length === 0) return
    const items = splitItems(run.text)
    const entries = skipped.map((index) => {
      const number = unit === 'line' ? `,"number":${before + index + 1}` : ''
      return `{"${unit}":${lines[index]}${number},"key":${JSON.stringify(run.keys?.[index])},"item":${items[index]}}\n`
    })
    await this.#try(() => this.#file.write(this.#encoder.encode(entries.join(''))))
  }

  /** Puts all entries on disk, before the import is committed: a full disk must not leave an import without its report. */
  async sync(): Promise<void> {
    await this.#try(async () => {
      await this.#file.flush()
      await this.#file.sync()
    })
  }

  async complete(): Promise<void> {
    await this.#file.complete().catch((error: unknown) => {
      throw explainWriting(error, this.#path)
    })
  }

  /** Removes what is not complete. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.remove()
    this.#directory[Symbol.dispose]()
  }

  async #try(write: () => Promise<unknown>): Promise<void> {
    try {
      await write()
    } catch (cause) {
      const error = explainWriting(cause, this.#path)
      throw error instanceof Failure
        ? new Failure(error.exitStatus, `${error.message} Nothing was imported.`, { cause })
        : error
    }
  }
}
