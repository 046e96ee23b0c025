/** `reams restore FILE`: makes a store from a backup, where there is none. */

import { existsSync, statSync } from 'node:fs'
import { StoreError } from '../../store/store-error.ts'
import { DataLocation } from '../data-location.ts'
import { describeFailure, Failure } from '../failure.ts'
import { createStoreFile, type StoreMade } from '../files/new-store-file.ts'
import { Interrupted, Interruption } from '../interruption.ts'
import { openStore, withStore } from '../open-store.ts'
import { msSince, printError, report } from '../output.ts'
import type { CliCommand, SettingValues } from '../setting-values.ts'
import { copyFile } from './backup.ts'
import { copyAll } from './copy.ts'
import { verifyWithProgress } from './verify.ts'

export const RESTORE: CliCommand = {
  name: 'restore',
  group: 'Back up',
  usage: 'FILE [options]',
  summary: 'make a store from a backup',
  description: `Makes a store, file or database, from a backup, with its tokens. The copy is read
back and verified. A store that exists is never changed.`,
  operands: [{ syntax: '<FILE>', description: 'the backup', suggestions: 'files' }],
  settings: ['store', 'json'],
  examples: [
    { line: 'reams restore monday.db --store my.db', purpose: 'to a file' },
    { line: 'reams restore monday.db --store postgres://me@db/app', purpose: 'to a database' },
  ],
  run: runRestore,
}

async function runRestore([file = '']: readonly string[], settings: SettingValues): Promise<number> {
  const location = settings.get('store')
  const backup = new DataLocation(file)
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true)
    throw new Failure(
      2,
      `There is no backup ${backup}: it is missing, or no file. Name the file that reams backup made.`,
    )
  const startedAt = performance.now()
  using interruption = new Interruption()
  const { signal } = interruption
  try {
    const { facts, sentence } = location.isDatabase
      ? await restoreDatabase(backup, location, settings, signal)
      : await restoreFile(backup, location, signal)
    const ends = { backup: backup.label, store: location.label }
    await report(settings, { ...ends, ...facts, duration_ms: msSince(startedAt) }, `${location}: ${sentence}`)
  } catch (error) {
    if (error instanceof Failure && error.cause instanceof Interrupted) {
      printError(`reams: ${error.message}`)
      return error.cause.exitStatus
    }
    throw isNotAStore(error) ? notABackup(file, error) : error
  }
  return 0
}

async function restoreFile(backup: DataLocation, location: DataLocation, signal: AbortSignal): Promise<StoreMade> {
  const path = location.reveal()
  if (existsSync(path)) throw storeExists(location)
  // Nobody writes to a backup, unless it is served itself.
  const isInUse = existsSync(`${backup.reveal()}-wal`)
  const make = (draft: DataLocation) => copyFile(backup, draft, { isInUse, signal })
  return createStoreFile({ path, isReplacement: false, origin: backup, signal, make })
}

async function restoreDatabase(
  backup: DataLocation,
  location: DataLocation,
  settings: SettingValues,
  signal: AbortSignal,
): Promise<StoreMade> {
  await refuseDatabase(location)
  return withStore(backup, {}, async (source) => {
    const { findings, collections, items } = await verifyWithProgress(source, `verifying ${backup}`, signal)
    if (findings.length > 0)
      throw new Failure(
        3,
        `${backup} is damaged, so nothing was restored. \`reams verify --store ${backup}\` has details; take another backup.`,
      )
    try {
      await withStore(location, { create: true }, async (store) => {
        const ends = { from: { location: backup, store: source }, to: { location, store } }
        await copyAll({ ...ends, isReplacement: false, settings, signal }, undefined, true)
      })
      return { facts: { collections, items, bytes: null }, sentence: `restored from ${backup}.` }
    } catch (error) {
      const message = error instanceof Interrupted ? `${error.message}.` : describeFailure(error).message
      const advice = `A part may be restored; \`reams copy --from ${backup} --to ${location.word} --tokens\` goes on with the rest.`
      throw new Failure(3, `${message} ${advice}`, { cause: error })
    }
  })
}

async function refuseDatabase(location: DataLocation): Promise<void> {
  try {
    await (await openStore(location)).close()
  } catch (error) {
    if (error instanceof StoreError && error.code === 'missing-store') return
    throw error
  }
  throw storeExists(location)
}

function storeExists(location: DataLocation): Failure {
  return new Failure(
    2,
    `There already is something at ${location}, which was left unchanged. A backup is restored where there is no store: name another place with --store, or move this one away.`,
  )
}

function isNotAStore(error: unknown): boolean {
  const cause = error instanceof Failure ? error.cause : error
  return cause instanceof StoreError && cause.code === 'not-a-store'
}

function notABackup(file: string, cause: unknown): Failure {
  return new Failure(2, `${file} is not a backup of a Reams store. Name a file that reams backup made.`, { cause })
}
