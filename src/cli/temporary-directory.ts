/** A directory for files that must not outlive the process. If the process is killed, the next one to create such a directory removes it. */

import { lstatSync, mkdtempSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { attempt } from '../store/running-process.ts'
import { Failure } from './failure.ts'
import { takeLock } from './files/file-lock.ts'

const PREFIX = 'reams-part-'
const NAME = /^reams-part-[A-Za-z0-9]{6}$/

/**
 * The owner holds this lock. It is the last file to be removed, so a directory with files and without it was not made by this class,
 * or by an older version whose process may be alive: it is left alone.
 */
const LOCK = 'reams.lock'

/** An attempt fails only if another process removes the new directory first. */
const MAX_ATTEMPTS = 20

export class TemporaryDirectory {
  readonly path: string
  readonly #lock: Disposable

  /** Throws a system error if `parent` cannot be written. Default: the directory of the system for temporary files. */
  constructor(parent?: string) {
    const [path, lock] = parent === undefined ? createInTmp() : create(parent)
    this.path = path
    this.#lock = lock
    process.on('exit', this.#remove)
  }

  // Synchronous, because nothing else runs at exit; a property, so that it can be removed from the listeners.
  readonly #remove = (): void => removeLocked(this.path, this.#lock);

  [Symbol.dispose](): void {
    process.off('exit', this.#remove)
    this.#remove()
  }
}

function createInTmp(): [path: string, lock: Disposable] {
  const parent = tmpdir()
  try {
    return create(parent)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Failure(
      3,
      `Cannot create a temporary directory in ${parent}: ${reason}. Set TMPDIR to another directory.`,
      { cause: error },
    )
  }
}

function create(parent: string): [path: string, lock: Disposable] {
  for (const name of attempt(() => readdirSync(parent)) ?? [])
    if (NAME.test(name)) attempt(() => removeAbandoned(join(parent, name)))
  for (let attempts = 1; ; attempts++) {
    const path = mkdtempSync(join(parent, PREFIX))
    const lock = lockNew(path, attempts === MAX_ATTEMPTS)
    if (lock !== undefined) return [path, lock]
  }
}

/**
 * Another process may take the directory for abandoned before it is locked, and remove it. Nothing is in it yet, so the next attempt
 * creates another one. How locking fails then depends on the moment; an error that stays is thrown by the last attempt.
 */
function lockNew(path: string, isLastAttempt: boolean): Disposable | undefined {
  try {
    return takeLock(join(path, LOCK))
  } catch (error) {
    rmSync(path, { recursive: true, force: true })
    if (isLastAttempt) throw error
    return undefined
  }
}

/** Throws if it cannot be removed, for example because it is another user's. */
function removeAbandoned(path: string): void {
  const stats = lstatSync(path)
  // In a directory that others can write to, only what is ours is safe to remove.
  if (!stats.isDirectory() || stats.uid !== (process.getuid?.() ?? stats.uid)) return
  const names = readdirSync(path)
  const lock = names.includes(LOCK) ? takeLock(join(path, LOCK)) : undefined
  if (lock !== undefined) removeLocked(path, lock)
  if (names.length === 0) rmdirSync(path)
}

function removeLocked(path: string, lock: Disposable): void {
  for (const name of attempt(() => readdirSync(path)) ?? [])
    if (name !== LOCK) rmSync(join(path, name), { recursive: true, force: true })
  lock[Symbol.dispose]()
  // Another process may have locked it again, and removes it then.
  attempt(() => rmdirSync(path))
}
