/** `reams verify`: checks every invariant of the storage format and says what does not hold. */

import { counted } from '../../contract/message-text.ts'
import type { Store, VerifyResult } from '../../store/store.ts'
import { StoreError } from '../../store/store-error.ts'
import type { DataLocation } from '../data-location.ts'
import { Failure } from '../failure.ts'
import { withStore } from '../open-store.ts'
import { print } from '../output.ts'
import { startProgress } from '../progress.ts'
import type { CliCommand, SettingValues } from '../setting-values.ts'

export const VERIFY: CliCommand = {
  name: 'verify',
  group: 'Look and check',
  usage: '[options]',
  summary: 'check that a store is undamaged',
  description: 'Checks every item, count and key of a store. Exit status 1 if something is wrong.',
  operands: [],
  settings: ['store'],
  examples: [{ line: 'reams verify --store my.db', purpose: 'print what is wrong, if anything' }],
  run: runVerify,
}

async function runVerify(_operands: readonly string[], settings: SettingValues): Promise<number> {
  const location = settings.get('store')
  const { collections, items, findings, notes } = await verifyStore(location)
  // What belongs to no collection has none to name.
  for (const { collection, message } of findings) await print(collection === '' ? message : `${collection}: ${message}`)
  for (const note of notes) await print(`Note: ${note}`)
  const scope = `${location}: ${counted(collections, 'collection')} with ${counted(items, 'item')} checked`
  await print(`${scope}, ${findings.length === 0 ? 'no problems' : counted(findings.length, 'problem')} found.`)
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
