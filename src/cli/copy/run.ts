/** A run of `reams copy`: one collection after the other, each all or nothing. */

import type { Head } from '../../store/store.ts'
import { StoreError } from '../../store/store-error.ts'
import { existingHead } from '../existing-head.ts'
import { describeFailure, Failure } from '../failure.ts'
import { formatCount, formatDuration, formatItems } from '../figures.ts'
import { Interrupted, Interruption } from '../interruption.ts'
import { openStore, withStore } from '../open-store.ts'
import { print, printError } from '../output.ts'
import type { SettingValues } from '../setting-values.ts'
import { sizeOf } from '../size.ts'
import type { StoreLocation } from '../store-location.ts'
import { type CopyJob, copyCollection, differencesOf, sumIfSame, taken } from './collection.ts'
import { isSameStore } from './same-store.ts'
import { checkTokens, copyTokens } from './tokens.ts'

const GO_ON = 'Run the same command again for the rest.'

export async function runCopy(settings: SettingValues): Promise<number> {
  const from = required(settings, 'from')
  const to = required(settings, 'to')
  if (isSameStore(from, to)) throw new Failure(2, `--from and --to are the same store, ${to}. Name another one.`)
  using interruption = new Interruption()
  const { signal } = interruption
  const source = await openSource(from)
  try {
    return await withStore(to, { create: true }, async (store) => {
      const isReplacement = settings.get('replace')
      const job = { from: { location: from, store: source }, to: { location: to, store }, isReplacement, signal }
      await copyAll(job, settings.get('copyCollection'), settings.get('tokens'))
      return 0
    })
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error
    printError(`reams: ${error.message}. Collections that are complete stay in ${to}. ${GO_ON}`)
    return error.exitStatus
  } finally {
    await source.close()
  }
}

function required(settings: SettingValues, name: 'from' | 'to'): StoreLocation {
  const location = settings.get(name)
  if (location !== undefined) return location
  throw new Failure(2, `--${name} is missing: the store to copy ${name}, a file or postgres://user@host/database.`)
}

/** The usual message would tell how to make one. */
async function openSource(from: StoreLocation) {
  try {
    return await openStore(from)
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'missing-store') throw error
    throw new Failure(2, `There is no store at ${from} to copy from. Look at --from.`, { cause: error })
  }
}

async function copyAll(job: CopyJob, names: readonly string[] | undefined, withTokens: boolean): Promise<void> {
  const { from, to } = job
  const heads = names === undefined ? await from.store.collections() : await headsOf(job, names)
  for (const head of heads) refuseOther(job, head, await to.store.head(head.name))
  if (withTokens) await checkTokens(job)
  for (const head of heads) await copyOne(job, head)
  const items = heads.reduce((sum, { live }) => sum + live, 0)
  await print(`${to.location} has ${collectionsOf(heads.length)} of ${from.location}, with ${formatItems(items)}.`)
  await finishTokens(job, withTokens)
}

function headsOf({ from }: CopyJob, names: readonly string[]): Promise<Head[]> {
  return Promise.all(names.map((name) => existingHead(from.store, name)))
}

const collectionsOf = (count: number): string => (count === 1 ? '1 collection' : `${formatCount(count)} collections`)

/** What can be seen at once is refused before anything is copied. */
function refuseOther({ to, isReplacement }: CopyJob, origin: Head, target: Head | undefined): void {
  if (target === undefined) return
  const differences = differencesOf(origin, target)
  if (differences.length > 0)
    throw new Failure(
      1,
      `The collection "${origin.name}" in ${to.location} is ${differences.join(' and ')}, and the one to copy is not. Nothing was copied. Remove it first: reams drop ${origin.name} --store ${to.location.word}`,
    )
  if (!isReplacement && origin.live !== target.live) throw taken(to.location, target)
}

async function copyOne(job: CopyJob, origin: Head): Promise<void> {
  const { name } = origin
  const startedAt = performance.now()
  job.signal.throwIfAborted()
  try {
    const target = await job.to.store.head(name)
    const known = target && (await sumIfSame(job, origin, target))
    if (known !== undefined) {
      await print(`${name}: ${sizeOf(origin)}, there already, compared; SHA-256 ${known}`)
      return
    }
    if (target !== undefined && !job.isReplacement) throw taken(job.to.location, target)
    const { head, sha256 } = await copyCollection(job, origin)
    const duration = formatDuration(performance.now() - startedAt)
    await print(`${name}: ${sizeOf(head)}, copied and compared in ${duration}; SHA-256 ${sha256}`)
  } catch (error) {
    throw explained(error, name)
  }
}

/** Codes after which it may well go on the next time. */
const PASSING: readonly StoreError['code'][] = [
  'unavailable',
  'overloaded',
  'outcome-unknown',
  'full',
  'read-only',
  'lease-lost',
]

function explained(error: unknown, name: string): unknown {
  if (!(error instanceof StoreError) || !PASSING.includes(error.code)) return error
  const { exitStatus, message } = describeFailure(error)
  return new Failure(exitStatus, `${name}: ${message} ${GO_ON}`, { cause: error })
}

async function finishTokens(job: CopyJob, withTokens: boolean): Promise<void> {
  const count = withTokens ? await copyTokens(job) : (await job.from.store.tokens()).length
  if (count === 0) return
  const tokens = count === 1 ? '1 token was' : `${formatCount(count)} tokens were`
  await print(withTokens ? `${tokens} copied.` : `${tokens} not copied; --tokens copies them too.`)
}
