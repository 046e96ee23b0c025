/** A lock beside a file: one process at a time holds it, and one that was killed holds nothing. */

import { linkSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { attempt, isRunning, type RunningProcess, thisProcess } from '../store/sqlite/running-process.ts'
import { isSystemError } from './failure.ts'
import { partOf, removeLeftovers } from './leftovers.ts'

/** For those who cannot see its process, a lock is free when it was not renewed for so long. */
const LIFETIME_MS = 10_000
const RENEWAL_MS = 2_000

interface Holder extends RunningProcess {
  readonly host: string
}

/** Undefined while another process holds it. Throws the system's own errors. */
export function takeLock(path: string): Disposable | undefined {
  const own = partOf(path)
  const holder: Holder = { ...thisProcess(), host: hostname() }
  writeFileSync(own, JSON.stringify(holder))
  try {
    // A link is made whole or not at all, by one of those who try.
    while (!isLinked(own, path)) if (!isFreed(path)) return undefined
    removeLeftovers(path)
    const renewal = setInterval(() => attempt(() => utimesSync(path, new Date(), new Date())), RENEWAL_MS).unref()
    return {
      [Symbol.dispose]() {
        clearInterval(renewal)
        // One that cannot be removed is free all the same when this process has ended.
        attempt(() => rmSync(path, { force: true }))
      },
    }
  } finally {
    rmSync(own, { force: true })
  }
}

function isLinked(own: string, path: string): boolean {
  try {
    linkSync(own, path)
    return true
  } catch (error) {
    if (isSystemError(error) && error.code === 'EEXIST') return false
    throw error
  }
}

/** Removes the lock of a process that is gone. True when it is worth trying again. */
function isFreed(path: string): boolean {
  const text = textOf(path)
  if (text === undefined) return true
  if (isHeld(path, text)) return false
  const aside = partOf(`${path}.old`)
  if (!isMoved(path, aside)) return true
  // Another one may have removed it first, and taken the lock: then that was the one moved, and it goes back.
  if (textOf(aside) !== text) isLinked(aside, path)
  rmSync(aside, { force: true })
  return true
}

/** On another machine nobody can tell. A machine that was started again has no process of before. */
function isHeld(path: string, text: string): boolean {
  try {
    const { host, ...holder }: Holder = JSON.parse(text)
    if (host !== hostname()) return true
    return holder.boot === thisProcess().boot && (isRunning(holder) ?? isRenewed(path))
  } catch {
    return true
  }
}

function isRenewed(path: string): boolean {
  return Math.abs(Date.now() - statSync(path).mtimeMs) < LIFETIME_MS
}

function textOf(path: string): string | undefined {
  return unlessGone(() => readFileSync(path, 'utf8'))
}

function isMoved(path: string, aside: string): boolean {
  return unlessGone(() => renameSync(path, aside) ?? true) === true
}

function unlessGone<T>(action: () => T): T | undefined {
  try {
    return action()
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return undefined
    throw error
  }
}
