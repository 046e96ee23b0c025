/** A store's file that others find complete and verified, or not at all, and that only its owner can read. */

import { existsSync } from 'node:fs'
import { rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { counted } from '../../contract/message-text.ts'
import { StoreError } from '../../store/store-error.ts'
import { verifyWithProgress } from '../commands/verify.ts'
import { DataLocation } from '../data-location.ts'
import { describeFailure, Failure } from '../failure.ts'
import { withStore } from '../open-store.ts'
import { formatBytes, formatDuration } from '../output.ts'
import { explainWriting, moveUnlessThere, syncDirectoryOf, temporaryDirectoryFor } from './part-file.ts'

interface NewStoreFile {
  /** The name that it gets in the end. */
  readonly path: string
  readonly isReplacement: boolean
  /** What it comes from, for messages. */
  readonly origin: DataLocation
  readonly signal: AbortSignal
  /** Makes the store at a place that is not there yet. */
  make(draft: DataLocation): Promise<void>
}

/** The result of a backup or restore, as facts for `--json` and as a sentence. */
export interface StoreMade {
  readonly facts: { readonly collections: number; readonly items: number; readonly bytes: number | null }
  readonly sentence: string
}

/** When it rejects, nothing is left. */
export async function createStoreFile({ path, isReplacement, origin, signal, make }: NewStoreFile): Promise<StoreMade> {
  refuseLog(path)
  // Beside its name, so that it can be moved there. SQLite puts its own files there too.
  using directory = temporaryDirectoryFor(path)
  const draft = new DataLocation(join(directory.path, 'reams.db'), path)
  try {
    const startedAt = performance.now()
    await make(draft)
    const madeAt = performance.now()
    const { collections, items } = await verified(draft, origin, signal)
    const { size } = await stat(draft.reveal())
    const verifiedAt = performance.now()
    refuseLog(path)
    if (isReplacement) await rename(draft.reveal(), path)
    else if (!(await moveUnlessThere(draft.reveal(), path))) throw existing(path)
    await syncDirectoryOf(path)
    const what = `${counted(collections, 'collection')} with ${counted(items, 'item')}, ${formatBytes(size)}`
    const sentence = `${what}; copied in ${formatDuration(madeAt - startedAt)}, every item, count and key verified in ${formatDuration(verifiedAt - madeAt)}.`
    return { facts: { collections, items, bytes: size }, sentence }
  } catch (error) {
    throw renamed(explainWriting(error, path), draft, origin)
  }
}

/** Of a backup; a restore looks before, and says more. */
export function existing(path: string): Failure {
  return new Failure(2, `${path} already exists. Name another file, or add --force to overwrite a backup.`)
}

/** What SQLite adds to the name of a store, for the files that belong to it. */
const SUFFIXES = ['-wal', '-shm', '-journal']

/** The suffix of Reams' own file. One beside a new store is harmless: it becomes the reserve of that store. */
const RESERVE_SUFFIX = '-reserve'

/** SQLite would put the log of another store over the new one, or the new one over a store, as if it were its log. */
function refuseLog(path: string): void {
  const suffix = [...SUFFIXES, RESERVE_SUFFIX].find((each) => path.endsWith(each))
  if (suffix !== undefined)
    throw new Failure(
      2,
      `${path} is the name of a file that ${suffix === RESERVE_SUFFIX ? 'Reams' : 'SQLite'} keeps beside a store. Name one without ${suffix}.`,
    )
  const log = SUFFIXES.map((each) => path + each).find((name) => existsSync(name))
  if (log === undefined) return
  throw new Failure(
    2,
    `${log} is there: ${path} is a store in use, or was one. Name another file, or stop who uses it and move ${log} away.`,
  )
}

async function verified(draft: DataLocation, origin: DataLocation, signal: AbortSignal) {
  const result = await withStore(draft, {}, async (store) => {
    const found = await verifyWithProgress(store, `verifying ${draft}`, signal)
    // A copy follows nothing, whatever the original did.
    if (found.findings.length === 0)
      for (const { name } of await store.followings()) await store.noteFollowing(name, null)
    return found
  })
  const [finding] = result.findings
  if (finding === undefined) return result
  const where = finding.collection === '' ? '' : `${finding.collection}: `
  throw new Failure(
    3,
    `The copy of ${origin} is damaged, so it was removed (${counted(result.findings.length, 'problem')}; the first: ${where}${finding.message}). \`reams verify --store ${origin.word}\` tells whether ${origin} is.`,
  )
}

/** An error that names the draft is about the file that it was to become; damage came with what it is a copy of. */
function renamed(error: unknown, draft: DataLocation, origin: DataLocation): unknown {
  if (!(error instanceof StoreError)) return error
  const { exitStatus, message } = describeFailure(error)
  const { label } = error.code === 'corrupt' ? origin : draft
  return new Failure(exitStatus, message.replaceAll(draft.reveal(), label), { cause: error })
}
