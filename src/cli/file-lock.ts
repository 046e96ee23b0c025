/** A lock beside a file: one process at a time holds it, and one that was killed holds nothing. */

import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { isSystemError } from './failure.ts'
import { removeLeftovers } from './leftovers.ts'
import { isRunning, type RunningProcess, thisProcess } from './running-process.ts'

interface Holder extends RunningProcess {
  readonly host: string
}

/** Undefined while another process holds it. Throws the system's own errors. */
export function takeLock(path: string): Disposable | undefined {
  const own = `${path}.${process.pid}.part`
  const holder: Holder = { ...thisProcess(), host: hostname() }
  writeFileSync(own, JSON.stringify(holder))
  try {
    // A link is made whole or not at all, by one of those who try.
    while (!isLinked(own, path)) if (!isFreed(path)) return undefined
    removeLeftovers(path)
    return { [Symbol.dispose]: () => release(path) }
  } finally {
    rmSync(own, { force: true })
  }
}

/** One that cannot be removed is free all the same when this process has ended. */
function release(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {}
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
  if (isHeld(text)) return false
  const aside = `${path}.${process.pid}.old.part`
  if (!isMoved(path, aside)) return true
  // Another one may have removed it first, and taken the lock: then that was the one moved, and it goes back.
  if (textOf(aside) !== text) isLinked(aside, path)
  rmSync(aside, { force: true })
  return true
}

/** On another machine nobody can tell. */
function isHeld(text: string): boolean {
  try {
    const { host, pid, birth }: Holder = JSON.parse(text)
    return host !== hostname() || isRunning({ pid, birth })
  } catch {
    return true
  }
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
