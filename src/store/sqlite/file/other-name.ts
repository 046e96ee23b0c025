/**
 * Refuses a store that some process has open under another name, such as a hard link. SQLite's log and its shared memory
 * go by name: under two of them nobody sees the other's writes, and they overwrite one another.
 */

import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { attempt } from '../../running-process.ts'
import { StoreError } from '../../store-error.ts'
import { isLocked } from '../rows/explain-error.ts'
import { fileIdentity } from './store-file.ts'

/** SQLite locks this byte of the file, and this one of the shared memory beside it, while a connection is open. */
const FILE_BYTE = '1073741826'
const MEMORY_BYTE = '128'

/** A process that opens or closes the store has one lock without the other, but not for so long. */
const MAX_TRIES = 40
const PAUSE_MS = 50

interface OtherUser {
  /** Unknown where the process is in another container. */
  readonly pid: string | undefined
  /** Unknown where the process is another user's. */
  readonly name: string | undefined
}

/**
 * To be called before a store is opened, because two names would get mixed up within one process, and when a connection
 * is open: then of two that come at once at least one finds the other. Without /proc nothing is noticed.
 */
export async function checkOnlyName(path: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    const other = findOtherUser(path)
    if (other === undefined) break
    if (other.name !== undefined || tries === MAX_TRIES) throw openUnderOtherName(path, other)
    await sleep(PAUSE_MS)
  }
  const written = findLogOfOtherName(path)
  if (written !== undefined) throw writtenUnderOtherName(path, written)
}

/** Another name for the file in the same directory, under which somebody wrote who then died. */
function findLogOfOtherName(path: string): string | undefined {
  const file = attempt(() => realpathSync(path))
  if (file === undefined || (attempt(() => statSync(file).nlink) ?? 1) === 1) return undefined
  const [directory, identity] = [dirname(file), identityOf(file)]
  const names = (attempt(() => readdirSync(directory)) ?? []).filter((name) => name.endsWith('-wal'))
  const others = names.map((name) => join(directory, name.slice(0, -'-wal'.length))).filter((name) => name !== file)
  return others.find((name) => identityOf(name) === identity && statSync(`${name}-wal`).size > 0)
}

function writtenUnderOtherName(path: string, name: string): StoreError {
  return new StoreError(
    'unavailable',
    `The store ${path} is the same file as ${name}, and its latest writes are still in ${name}-wal, because it was not closed properly. Open ${name} once, for example with \`reams collections --store ${name}\`, then try again.`,
  )
}

function openUnderOtherName(path: string, { pid, name }: OtherUser): StoreError {
  const who = pid === undefined ? 'a process that cannot be seen from here' : `process ${pid}`
  const [where, which] = name === undefined ? ['another name', 'that name'] : [`the name ${name}`, name]
  return new StoreError(
    'unavailable',
    `The store ${path} is a file that ${who} has open under ${where}. Under two names at once writes would be lost: use ${which} here too, or stop that process first.`,
  )
}

function findOtherUser(path: string): OtherUser | undefined {
  const file = attempt(() => realpathSync(path))
  return file === undefined ? undefined : (findSeenUser(file) ?? findUnseenUser(file))
}

/** A process, maybe this one, that has the file open, but not the shared memory that goes with our name for it. */
function findSeenUser(file: string): OtherUser | undefined {
  const sharers = holdersOf(`${file}-shm`, MEMORY_BYTE)
  const others = holdersOf(file, FILE_BYTE).filter((holder) => !sharers.includes(holder))
  const users = others.map((pid) => ({ pid, name: nameUsedBy(pid, file) }))
  // This process without a name: it only looks (below).
  return users.find(({ pid, name }) => name !== undefined || pid !== String(process.pid))
}

/**
 * Somebody who has the file open though there is no log under our name for it. /proc does not show the locks of another
 * container, into which the file alone may be mounted: so SQLite is asked for a lock that nobody shares.
 */
function findUnseenUser(file: string): OtherUser | undefined {
  if (existsSync(`${file}-wal`)) return undefined
  // This mode makes no file where there is none. What else is wrong with the file shows when it is opened for good.
  using database = attempt(() => new DatabaseSync(new URL('?mode=rw', pathToFileURL(file)), { timeout: 0 }))
  try {
    database?.exec('PRAGMA locking_mode = EXCLUSIVE; SELECT 1 FROM sqlite_schema')
    return undefined
  } catch (error) {
    if (!isLocked(error)) return undefined
    // With the lock that it has nevertheless, the other one may be seen.
    return findSeenUser(file) ?? { pid: undefined, name: undefined }
  }
}

/** The processes that hold a lock on a file, if this one does. */
function holdersOf(path: string, byte: string): string[] {
  const identity = identityOf(path)
  if (identity === undefined) return []
  const descriptors = descriptorsOf('self').filter((each) => identityOf(`/proc/self/fd/${each}`) === identity)
  const own = descriptors.flatMap((each) => locksIn(`/proc/self/fdinfo/${each}`, byte))[0]
  // What the kernel calls the file: on some file systems by other numbers than those of `stat`.
  return locksIn('/proc/locks', byte).flatMap(({ pid, file }) => (file === own?.file ? pid : []))
}

/** The name that goes with the shared memory that the process uses for the file. */
function nameUsedBy(pid: string, file: string): string | undefined {
  const [identity, memory] = [identityOf(file), identityOf(`${file}-shm`)]
  const links = descriptorsOf(pid).map((each) => `/proc/${pid}/fd/${each}`)
  const others = links.filter((link) => identityOf(link) !== memory).map((link) => attempt(() => readlinkSync(link)))
  const names = others.flatMap((target) => /^(.*)-shm$/s.exec(target ?? '')?.[1] ?? [])
  return names.find((name) => identityOf(`/proc/${pid}/root${name}`) === identity)
}

function descriptorsOf(pid: string): string[] {
  return attempt(() => readdirSync(`/proc/${pid}/fd`)) ?? []
}

/** The locks in lines such as `1: POSIX  ADVISORY  READ 4711 fe:00:1234 128 128`. */
function locksIn(path: string, byte: string): { pid: string; file: string }[] {
  const text = attempt(() => readFileSync(path, 'utf8')) ?? ''
  const locks = text.matchAll(/: POSIX +\S+ +\S+ (\d+) (\S+) (\d+) /g)
  return [...locks].flatMap(([, pid = '', file = '', start]) => (start === byte ? { pid, file } : []))
}

function identityOf(path: string): string | undefined {
  return attempt(() => fileIdentity(path))
}
