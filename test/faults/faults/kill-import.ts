/** kill -9 of an import at a random moment, while the same store is served and written to. */

import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Fault, Trial } from '../fault.ts'
import { POSTGRES } from '../needs.ts'
import { ReamsProcess, runReams } from '../reams-process.ts'
import type { Findings } from '../report.ts'
import { StoreUnderTest } from '../store-under-test.ts'
import { walk } from '../walk.ts'

/** The collection of the imports; the clients write to the others. */
export const STOCK = 'stock'

const OLD_ITEMS = 3_300
const NEW_ITEMS = 30_000

/** The program starts, then it loads: about so much of the whole time, or beside the clients somewhat more. */
export const LOADING_PART = 0.7

export const KILL_IMPORT: Fault = {
  name: 'kill-import',
  description: 'kill -9 of an import, with and without --replace',
  rounds: 100,
  fewRounds: 3,
  needs: [],
  run: (trial) => withFile(trial, (target) => killImports(trial, target)),
}

/** Does something to a store in a file. */
export async function withFile(trial: Trial, use: (target: ImportTarget) => Promise<void>): Promise<void> {
  const storeDirectory = join(trial.directory, 'store')
  mkdirSync(storeDirectory)
  await using subject = await StoreUnderTest.create(storeDirectory, trial.report, trial.random)
  await use({
    subject,
    mostBusyMs: 0,
    mostUntidyMs: 10_000,
    marks: async () => marksIn(subject.path),
    strangers: () => readdirSync(storeDirectory).filter((name) => !/^reams\.db(-wal|-shm)?$/.test(name)),
  })
}

/** A store that is imported into. */
export interface ImportTarget {
  readonly subject: StoreUnderTest
  /** How long it may take until it is known that an import is dead, during which others cannot write. */
  readonly mostBusyMs: number
  /** How long leftovers may still be there that are in nobody's way: they are removed while nobody writes. */
  readonly mostUntidyMs: number
  /** How many marks of imports there are: of running ones, and of what dead ones left behind. */
  marks(): Promise<number>
  /** Files that should not be there. */
  strangers(): string[]
}

export async function killImports(trial: Trial, target: ImportTarget): Promise<void> {
  const { directory, rounds, random, report, beginRound } = trial
  const { subject } = target
  const before = writeItems(directory, 'old', OLD_ITEMS)
  const added = writeItems(directory, 'new', NEW_ITEMS)
  const usualMs = await importWhole(subject, added)
  const outcomes = { old: 0, new: 0, swept: 0 }
  for (let done = 0; done < rounds; done++) {
    beginRound()
    await importWhole(subject, before)
    const isReplacement = done % 2 === 1
    const after = isReplacement ? added.texts : [...before.texts, ...added.texts]
    const workload = subject.work({ writers: 2 })
    await using victim = new ReamsProcess([...importOf(added), ...(isReplacement ? ['--replace'] : [])], subject.named)
    // Mostly while it loads, which is when it has something to leave behind.
    if (random(4) > 0) await loadBegun(target, victim)
    await sleep(random(usualMs * LOADING_PART))
    await victim.kill()
    await workload.stop()
    await subject.check()
    outcomes[await stateOf(subject, before.texts, after, trial)]++
    if ((await target.marks()) > 0) outcomes.swept++
    await writeOne(target, report.findings)
    await checkNothingStays(target, report.findings)
  }
  report.notes.push(
    `the old collection was found ${outcomes.old} times, the new one ${outcomes.new} times, and leftovers were swept ${outcomes.swept} times`,
  )
}

export interface ItemFile {
  readonly path: string
  readonly texts: readonly string[]
}

export function writeItems(directory: string, name: string, count: number): ItemFile {
  const path = join(directory, `${name}.ndjson`)
  const texts = Array.from({ length: count }, (_, index) => JSON.stringify({ id: `${name}-${index}`, of: count }))
  writeFileSync(path, texts.join('\n'))
  return { path, texts }
}

function importOf({ path }: ItemFile): string[] {
  return ['import', STOCK, path, '--key', 'id']
}

/** Swaps the whole collection, undisturbed; answers how long that took. */
export async function importWhole(subject: StoreUnderTest, file: ItemFile): Promise<number> {
  const startedAt = performance.now()
  const { status, stderr } = await runReams([...importOf(file), '--replace'], subject.named)
  if (status !== 0) throw new Error(`reams import failed: ${stderr}`)
  return performance.now() - startedAt
}

export async function loadBegun(target: ImportTarget, victim: ReamsProcess): Promise<void> {
  while ((await target.marks()) === 0 && !victim.hasEnded) await sleep(5)
}

async function stateOf(
  subject: StoreUnderTest,
  before: readonly string[],
  after: readonly string[],
  { report: { findings } }: Trial,
): Promise<'old' | 'new'> {
  using connection = subject.connect()
  const found = await walk(connection, STOCK, findings)
  const isSame = (texts: readonly string[]) =>
    texts.length === found.length && texts.every((text, index) => text === found[index])
  if (isSame(before)) return 'old'
  if (!isSame(after)) findings.add('partial', `${found.length} items are neither the old collection nor the new one`)
  return 'new'
}

/** The next writer finds the way free, whatever the import left behind, as soon as it is known to be dead. */
export async function writeOne({ subject, mostBusyMs }: ImportTarget, findings: Findings): Promise<void> {
  using connection = subject.connect()
  const body = JSON.stringify({ id: 'one more' })
  const question = { method: 'POST', path: `/${STOCK}`, type: 'application/json', body }
  const startedAt = performance.now()
  let answer = await connection.ask(question)
  while (answer.status === 503 && performance.now() - startedAt < mostBusyMs) {
    await sleep(100)
    answer = await connection.ask(question)
  }
  if (answer.status !== 201)
    findings.add('other', `a write after the import was answered ${answer.status}: ${answer.body}`)
}

/** Without marks of leases and leftovers `reams verify` lets nothing pass that no reader sees. */
export async function checkNothingStays(
  { subject, mostUntidyMs, marks, strangers }: ImportTarget,
  findings: Findings,
): Promise<void> {
  for (const startedAt = performance.now(); performance.now() - startedAt < mostUntidyMs; await sleep(10))
    if ((await marks()) === 0) break
  if ((await marks()) > 0) findings.add('other', 'leftovers of the import are still there after the next write')
  const { status, stdout, stderr } = await runReams(['verify'], subject.named)
  if (status !== 0) findings.add('other', `reams verify: ${stdout}${stderr}`)
  const others = strangers()
  if (others.length > 0) findings.add('other', `files were left behind: ${others.join(', ')}`)
}

function marksIn(path: string): number {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 })
  try {
    const row = database.prepare('SELECT (SELECT count(*) FROM lease) + (SELECT count(*) FROM leftover) AS marks').get()
    return Number(row?.['marks'])
  } finally {
    database.close()
  }
}

/** An import counts as dead when it has been silent for 10 s. */
const MAX_BUSY_MS = 15_000
/** It is looked for leftovers once a minute. */
const MAX_UNTIDY_MS = 70_000

export const PG_KILL_IMPORT: Fault = {
  name: 'pg-kill-import',
  description: 'kill -9 of an import into PostgreSQL, with and without --replace',
  rounds: 30,
  fewRounds: 1,
  needs: [POSTGRES],
  run: (trial) => withDatabase(trial, (target) => killImports(trial, target)),
}

/** Does something to a store in PostgreSQL. */
export async function withDatabase(trial: Trial, use: (target: ImportTarget) => Promise<void>): Promise<void> {
  const { report, random } = trial
  const cluster = await trial.postgres()
  const schema = cluster.newSchema()
  await using client = await cluster.connect()
  await using subject = await StoreUnderTest.createAt({ location: cluster.storeIn(schema) }, report, random)
  await use({
    subject,
    mostBusyMs: MAX_BUSY_MS,
    mostUntidyMs: MAX_UNTIDY_MS,
    async marks() {
      const { rows } = await client.query(
        `SELECT (SELECT count(*) FROM ${schema}.lease) + (SELECT count(*) FROM ${schema}.leftover) AS marks`,
      )
      return Number(rows[0]?.marks)
    },
    strangers: () => [],
  })
}
