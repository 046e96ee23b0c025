/**
 * Refuses a store that is in use under another name, such as a hard link or a mount of the file alone. SQLite's log goes by name: under two
 * names nobody sees the other's writes, and they overwrite one another.
 */

import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { attempt } from '../../running-process.ts'
import { StoreError } from '../../store-error.ts'
import { isLocked } from '../rows/explain-error.ts'
import { fileIdentity } from './store-file.ts'

/** Somebody who opens or closes the store under our name has the file before there is a log, but not for so long. */
const MAX_TRIES = 40
const PAUSE_MS = 50

/** To be called before a store is opened. Two names that are opened in the same moment are not noticed. */
export async function checkOnlyName(path: string): Promise<void> {
  const file = attempt(() => realpathSync(path))
  if (file === undefined) return
  for (let tries = 1; isOpenElsewhere(file); tries++) {
    if (tries === MAX_TRIES) throw openUnderOtherName(path)
    await sleep(PAUSE_MS)
  }
  const other = findLogOfOtherName(file)
  if (other !== undefined) throw writtenUnderOtherName(path, other)
}

/**
 * Whether somebody has the file open though there is no log under our name for it. Every connection holds a lock on the file, so SQLite
 * is asked for one that nobody shares.
 */
function isOpenElsewhere(file: string): boolean {
  if (existsSync(`${file}-wal`)) return false
  // This mode makes no file where there is none. What else is wrong with the file shows when it is opened for good.
  using database = attempt(() => new DatabaseSync(new URL('?mode=rw', pathToFileURL(file)), { timeout: 0 }))
  try {
    database?.exec('PRAGMA locking_mode = EXCLUSIVE; SELECT 1 FROM sqlite_schema')
    return false
  } catch (error) {
    return isLocked(error)
  }
}

/** Another name for the file in the same directory, whose log still has writes because its process died. */
function findLogOfOtherName(file: string): string | undefined {
  if ((attempt(() => statSync(file).nlink) ?? 1) === 1) return undefined
  const identityOf = (path: string) => attempt(() => fileIdentity(path))
  const names = (attempt(() => readdirSync(dirname(file))) ?? []).filter((name) => name.endsWith('-wal'))
  const others = names.map((name) => join(dirname(file), name.slice(0, -'-wal'.length))).filter((name) => name !== file)
  return others.find((name) => identityOf(name) === identityOf(file) && statSync(`${name}-wal`).size > 0)
}

function writtenUnderOtherName(path: string, name: string): StoreError {
  return new StoreError(
    'unavailable',
    `The store ${path} is the same file as ${name}, and its latest writes are still in ${name}-wal, because it was not closed properly. Open ${name} once, for example with \`reams collections --store ${name}\`, then try again.`,
  )
}

function openUnderOtherName(path: string): StoreError {
  return new StoreError(
    'unavailable',
    `The store ${path} is a file that a process has open under another name, such as a hard link. Under two names at once writes would be lost: use that name here too, or stop that process first.`,
  )
}
