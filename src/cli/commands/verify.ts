/** `reams verify`: checks every invariant of the storage format and says what does not hold. */

import { counted } from '../../contract/message-text.ts'
import type { Store, VerifyResult } from '../../store/store.ts'
import { StoreError } from '../../store/store-error.ts'
import type { DataLocation } from '../data-location.ts'
import { Failure } from '../failure.ts'
import { withStore } from '../open-store.ts'
import { msSince, report } from '../output.ts'
import { startProgress } from '../progress.ts'
import type { CliCommand, SettingValues } from '../setting-values.ts'

export const VERIFY: CliCommand = {
  name: 'verify',
  group: 'Look and check',
  usage: '[options]',
  summary: 'check that a store is undamaged',
  description: 'Checks every item, count and key of a store. Exit status 1 if something is wrong.',
  operands: [],
  settings: ['store', 'json'],
  examples: [{ line: 'reams verify --store my.db', purpose: 'print what is wrong, if anything' }],
  run: runVerify,
}

async function runVerify(_operands: readonly string[], settings: SettingValues): Promise<number> {
  const location = settings.get('store')
  const startedAt = performance.now()
  const { collections, items, findings, notes } = await verifyStore(location)
  // What belongs to no collection has none to name.
  const problems = findings.map(({ collection, message }) => ({ collection: collection || null, message }))
  const scope = `${location}: ${counted(collections, 'collection')} with ${counted(items, 'item')} checked`
  const lines = [
    ...problems.map(({ collection, message }) => (collection === null ? message : `${collection}: ${message}`)),
    ...notes.map((note) => `Note: ${note}`),
    `${scope}, ${findings.length === 0 ? 'no problems' : counted(findings.length, 'problem')} found.`,
  ]
  const facts = { store: location.label, collections, items, problems, notes, duration_ms: msSince(startedAt) }
  await report(settings, facts, lines.join('\n'))
  return findings.length === 0 ? 0 : 1
}

async function verifyStore(location: DataLocation) {
  try {
    return await withStore(location, {}, (store) => verifyWithProgress(store, location.label))
  } catch (error) {
    // Here a damaged file is not a failure of the command: it is the answer, and the answer is no.
    if (error instanceof StoreError && error.code === 'corrupt') throw new Failure(1, error.message, { cause: error })
    throw error
  }
}

export async function verifyWithProgress(store: Store, label: string, signal?: AbortSignal): Promise<VerifyResult> {
  let progress: ReturnType<typeof startProgress> | undefined
  try {
    return await store.verify((items, total) => {
      signal?.throwIfAborted()
      progress ??= startProgress(label, total)
      progress.update(items, items)
    })
  } finally {
    progress?.stop()
  }
}
