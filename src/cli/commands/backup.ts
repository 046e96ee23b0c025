/** `reams backup FILE`: a verified copy of a whole store in one file, made while the store is served. */

import { statSync } from 'node:fs'
import { constants, getPriority, setPriority } from 'node:os'
import { copyStoreFile } from '../../store/sqlite/file/copy-file.ts'
import { StoreError } from '../../store/store-error.ts'
import { DataLocation } from '../data-location.ts'
import { Failure } from '../failure.ts'
import { createStoreFile, existing } from '../files/new-store-file.ts'
import { outputTarget } from '../files/output-target.ts'
import { Interruption } from '../interruption.ts'
import { withStore } from '../open-store.ts'
import { msSince, report } from '../output.ts'
import { startFileProgress } from '../progress.ts'
import type { CliCommand, SettingValues } from '../setting-values.ts'
import { copyAll, isSameStore } from './copy.ts'

export const BACKUP: CliCommand = {
  name: 'backup',
  group: 'Back up',
  usage: 'FILE [options]',
  summary: 'copy a store to a file, while it is served',
  description: `Copies a whole store, with its tokens, to one file, which only you can read. The
store may be in use: nobody waits for the backup. The copy is read back and verified
before it gets its name. \`reams restore\` makes a store from it.`,
  operands: [{ syntax: '<FILE>', description: 'the backup', suggestions: 'files' }],
  settings: ['store', 'force', 'json'],
  examples: [
    { line: 'reams backup monday.db --store my.db', purpose: 'a copy of my.db' },
    { line: 'reams backup monday.db --store postgres://me@db/app', purpose: 'of a database' },
  ],
  run: runBackup,
}

const LOW_PRIORITY = constants.priority.PRIORITY_BELOW_NORMAL

async function runBackup([file = '']: readonly string[], settings: SettingValues): Promise<undefined> {
  const origin = settings.get('store')
  const isReplacement = settings.get('force')
  const { label, isDatabase } = new DataLocation(file)
  if (isDatabase)
    throw new Failure(2, `A backup is a file, and ${label} is a database. Name a file, or use reams copy.`)
  const { path, isFile, isThere } = await outputTarget(file)
  if (path === undefined || !isFile) throw new Failure(2, `A backup must be a file, and ${file} is none. Name a file.`)
  if (isSameStore(origin, new DataLocation(path)))
    throw new Failure(2, `${file} is the store to back up itself. Name another file.`)
  if (isThere && !isReplacement) throw existing(path)
  const startedAt = performance.now()
  using interruption = new Interruption()
  const { signal } = interruption
  const make = async (draft: DataLocation) => {
    if (origin.isDatabase) await copyDatabase(origin, draft, settings, signal)
    else await copyFile(origin, draft, { signal })
    // To verify takes much longer than to copy, and the server on the same machine is to notice nothing.
    if (getPriority() < LOW_PRIORITY) setPriority(LOW_PRIORITY)
  }
  const { facts, sentence } = await createStoreFile({ path, isReplacement, origin, signal, make }).catch((error) => {
    if (!(error instanceof Failure && error.cause instanceof StoreError)) throw error
    if (error.cause.code !== 'missing-store') throw error
    throw new Failure(2, `There is no store at ${origin} to back up. Check --store.`, { cause: error })
  })
  const ends = { backup: path, store: origin.label }
  await report(settings, { ...ends, ...facts, duration_ms: msSince(startedAt) }, `${file}: ${sentence}`)
}

/** With a bar of its own. */
export async function copyFile(
  from: DataLocation,
  to: DataLocation,
  options: { isInUse?: boolean; signal: AbortSignal },
): Promise<void> {
  const totalBytes = statSync(from.reveal(), { throwIfNoEntry: false })?.size ?? 0
  const progress = startFileProgress(`copying ${from}`, totalBytes)
  try {
    await copyStoreFile(from.reveal(), to.reveal(), { ...options, onProgress: progress.update })
  } finally {
    progress.stop()
  }
}

/** Each collection from one snapshot. */
async function copyDatabase(
  from: DataLocation,
  to: DataLocation,
  settings: SettingValues,
  signal: AbortSignal,
): Promise<void> {
  await withStore(from, {}, (source) =>
    withStore(to, { create: true }, async (store) => {
      const ends = { from: { location: from, store: source }, to: { location: to, store } }
      await copyAll({ ...ends, isReplacement: false, settings, signal }, undefined, true)
    }),
  )
}
