/** `reams copy --from STORE --to STORE`: copies collections, one by one, each all or nothing. */

import { statSync } from 'node:fs'
import { counted } from '../../contract/message-text.ts'
import type { Head, TokenRecord } from '../../store/store.ts'
import { StoreError } from '../../store/store-error.ts'
import type { DataLocation } from '../data-location.ts'
import { Failure } from '../failure.ts'
import { Interrupted, Interruption } from '../interruption.ts'
import { existingHead, openStore, withStore } from '../open-store.ts'
import { formatDuration, msSince, printError, report, reportPart, sizeOf } from '../output.ts'
import type { CliCommand, SettingValues } from '../setting-values.ts'
import { type CopyJob, copyCollection, copyRetention, differencesOf, sumIfSame } from './copy/collection.ts'

export const COPY: CliCommand = {
  name: 'copy',
  group: 'Load and change',
  usage: '--from STORE --to STORE [options]',
  summary: 'copy collections to another store',
  description: `Copies collections to another store, file or database, with their settings and
keys, and without their history. A copy of a mirror is a mirror. Each appears
complete, in one step, and is then read back and compared by its SHA-256.
Collections that are the same in both stores are skipped, so after an interruption
just run it again. Creates the store if missing.`,
  operands: [],
  settings: ['from', 'to', 'collection', 'tokens', 'replace', 'json'],
  examples: [
    { line: 'reams copy --from my.db --to postgres://me@db/app', purpose: 'to a database' },
    { line: 'reams copy --from my.db --to new.db --collection a', purpose: 'only a' },
    { line: 'reams copy --from my.db --to new.db --replace', purpose: 'replace what differs' },
  ],
  run: runCopy,
}

async function runCopy(_operands: readonly string[], settings: SettingValues): Promise<number> {
  const from = required(settings, 'from')
  const to = required(settings, 'to')
  if (isSameStore(from, to))
    throw new Failure(2, `--from and --to are the same store, ${to}. Name another one with --to.`)
  using interruption = new Interruption()
  const { signal } = interruption
  const source = await openSource(from)
  try {
    return await withStore(to, { create: true }, async (store) => {
      const isReplacement = settings.get('replace')
      const ends = { from: { location: from, store: source }, to: { location: to, store } }
      const job = { ...ends, isReplacement, settings, signal }
      const copied = await copyAll(job, settings.get('collection'), settings.get('tokens'))
      await report(settings, { from: from.label, to: to.label, ...copied }, undefined)
      return 0
    })
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error
    printError(
      `reams: ${error.message}. Collections that are complete stay in ${to}. Run the same command again to copy the rest.`,
    )
    return error.exitStatus
  } finally {
    await source.close()
  }
}

function required(settings: SettingValues, name: 'from' | 'to'): DataLocation {
  const location = settings.get(name)
  if (location !== undefined) return location
  throw new Failure(2, `--${name} is missing: the store to copy ${name}, a file or postgres://user@host/database.`)
}

/** The usual message would tell how to create a store. */
async function openSource(from: DataLocation) {
  try {
    return await openStore(from)
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'missing-store') throw error
    throw new Failure(2, `There is no store at ${from} to copy from. Check --from.`, { cause: error })
  }
}

/** Whether two locations are one store, as far as their names tell. A file can have several names. */
export function isSameStore(one: DataLocation, other: DataLocation): boolean {
  const identity = identityOf(one)
  return identity !== undefined && identity === identityOf(other)
}

/** Undefined where nothing is yet. */
function identityOf({ isDatabase, label }: DataLocation): string | undefined {
  if (!isDatabase) {
    const stats = statSync(label, { throwIfNoEntry: false })
    return stats && `${stats.dev} ${stats.ino}`
  }
  if (!URL.canParse(label)) return undefined
  const { hostname, port, pathname, searchParams } = new URL(label)
  const host = searchParams.get('host') ?? (/^(|127\.0\.0\.1|\[::1\])$/.test(hostname) ? 'localhost' : hostname)
  return [host.toLowerCase(), port || '5432', pathname, searchParams.get('schema') ?? 'reams'].join(' ')
}

/** Refuses what can be refused before anything is copied. Prints what it does, and returns the same as facts. */
export async function copyAll(job: CopyJob, names: readonly string[] | undefined, withTokens: boolean) {
  const { from, to, settings } = job
  const heads =
    names === undefined
      ? await from.store.collections()
      : await Promise.all(names.map((name) => existingHead(from.store, name)))
  for (const head of heads) refuseDifferent(job, head, await to.store.head(head.name))
  const tokens = await tokensToCopy(job, withTokens)
  const collections: Awaited<ReturnType<typeof copyOne>>[] = []
  for (const head of heads) collections.push(await copyOne(job, head))
  const items = heads.reduce((sum, { live }) => sum + live, 0)
  const what = `${counted(heads.length, 'collection')} of ${from.location}, with ${counted(items, 'item')}`
  await reportPart(settings, `${to.location} has ${what}.`)
  await copyTokens(job, tokens, withTokens)
  return { collections, items, tokens: withTokens ? tokens.length : 0 }
}

function refuseDifferent({ to, isReplacement }: CopyJob, origin: Head, target: Head | undefined): void {
  if (target === undefined) return
  const differences = differencesOf(origin, target)
  if (differences.length > 0)
    throw new Failure(
      1,
      `The collection "${origin.name}" in ${to.location} is ${differences.join(' and ')}, unlike the one to copy. Nothing was copied. Remove it first: reams drop ${origin.name} --store ${to.location.word}`,
    )
  if (!isReplacement && origin.live !== target.live) throw taken(to.location, target)
}

function taken(location: DataLocation, { name, live }: Head): Failure {
  return new Failure(
    1,
    `${location} already has a different collection "${name}", with ${counted(live, 'item')}. It was left unchanged. --replace replaces it; --collection NAME copies others.`,
  )
}

async function copyOne(job: CopyJob, origin: Head) {
  const { name } = origin
  job.signal.throwIfAborted()
  const startedAt = performance.now()
  const target = await job.to.store.head(name)
  const same = target && (await sumIfSame(job, origin, target))
  if (target !== undefined && same === undefined && !job.isReplacement) throw taken(job.to.location, target)
  const { head, sha256, isCompared } =
    same === undefined ? await copyCollection(job, origin) : { head: origin, sha256: same, isCompared: true }
  await copyRetention(job, origin)
  const copied = isCompared ? 'copied and compared' : 'copied, not compared because others write to it,'
  const how = same === undefined ? copied : 'the same already, compared'
  const duration = formatDuration(performance.now() - startedAt)
  await reportPart(job.settings, `${name}: ${sizeOf(head)}, ${how} in ${duration}; SHA-256 ${sha256}`)
  const facts = { name, items: head.live, same_already: same !== undefined, compared: isCompared, sha256 }
  return { ...facts, duration_ms: msSince(startedAt) }
}

/** Tokens that are missing in the other store, or not revoked yet. Refuses a different token of the same name. */
async function tokensToCopy({ from, to }: CopyJob, withTokens: boolean): Promise<TokenRecord[]> {
  const tokens = await from.store.tokens()
  if (!withTokens) return tokens
  const existing = new Map((await to.store.tokens()).map((token) => [token.name, token]))
  const other = tokens.find(({ name, hash }) => (existing.get(name)?.hash ?? hash) !== hash)
  if (other !== undefined) {
    const message = `${to.location} already has a different token "${other.name}". Nothing was copied. Leave out --tokens, and create new tokens there.`
    throw new Failure(1, message)
  }
  return tokens.filter(({ name, revokedAt }) => {
    const known = existing.get(name)
    return known === undefined || (revokedAt !== null && known.revokedAt === null)
  })
}

/** They stay valid, because a store keeps only the hash of a token. */
async function copyTokens(
  { to, settings }: CopyJob,
  tokens: readonly TokenRecord[],
  withTokens: boolean,
): Promise<void> {
  if (tokens.length === 0) return
  const count = `${counted(tokens.length, 'token')} ${tokens.length === 1 ? 'was' : 'were'}`
  if (!withTokens) return reportPart(settings, `${count} not copied; --tokens copies them too.`)
  const existing = new Set((await to.store.tokens()).map(({ name }) => name))
  for (const token of tokens) {
    if (!existing.has(token.name)) await to.store.addToken(token)
    else if (token.revokedAt !== null) await to.store.revokeToken(token.name, token.revokedAt)
  }
  await reportPart(settings, `${count} copied.`)
}
