/** kill -9 of an import at a random moment, while the same store is served and written to. */

import { readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { DataLocation } from '../../../src/cli/data-location.ts'
import { runSql } from '../../store/postgres-engine.ts'
import { waitUntil } from '../../wait-until.ts'
import type { Trial } from '../fault.ts'
import { ReamsProcess, runReams } from '../reams-process.ts'
import type { Findings } from '../report.ts'
import { checkStore, type StorePlace, StoreUnderTest } from '../store-under-test.ts'
import { walk } from '../walk.ts'

/** The collection of the loads; the clients write to the others. */
const STOCK = 'stock'

const OLD_ITEMS = 3_300
const NEW_ITEMS = 30_000

/** The program starts, then it loads: about so much of the whole time, or beside the clients somewhat more. */
const LOADING_PART = 0.7

/** How long it may take until it is known that a load is dead, during which others cannot write: 10 s of silence. */
const MAX_BUSY_MS = { file: 0, database: 15_000 }

/** How long leftovers may still be there that are in nobody's way. In a database it is looked for them once a minute. */
const MAX_UNTIDY_MS = { file: 10_000, database: 70_000 }

/** With and without `--replace`. */
export async function killImports(trial: Trial, newPlace: () => StorePlace): Promise<void> {
  const { directory, rounds, random, report, beginRound } = trial
  const { findings } = report
  await using subject = await StoreUnderTest.create(newPlace(), report, random)
  const [old, added] = [writeItems(directory, 'old', OLD_ITEMS), writeItems(directory, 'new', NEW_ITEMS)]
  const usualMs = await importWhole(subject, added)
  const outcomes = { killed: 0, old: 0, swept: 0 }
  for (let round = 0; round < rounds; round++) {
    beginRound()
    await importWhole(subject, old)
    const isReplacement = round % 2 === 1
    const workload = subject.work({ writers: 2 })
    await using victim = new ReamsProcess([...importOf(added), ...(isReplacement ? ['--replace'] : [])], subject.named)
    // Mostly while it loads, which is when it has something to leave behind.
    if (random(4) > 0) while ((await marksIn(subject.path)) === 0 && !victim.hasEnded) await sleep(5)
    await sleep(random(usualMs * LOADING_PART))
    if (!victim.hasEnded) outcomes.killed++
    await victim.kill()
    await workload.stop()
    await subject.check()
    // What the collection held before, or what it was to hold.
    const states = [old.texts, isReplacement ? added.texts : [...old.texts, ...added.texts]]
    if ((await stateOf(subject, states, findings)) === 0) outcomes.old++
    if ((await marksIn(subject.path)) > 0) outcomes.swept++
    await writeOne(subject, findings)
    await checkNothingStays(subject, findings)
  }
  const { killed, old: unchanged, swept } = outcomes
  report.notes.push(
    `${killed} were killed before their end, ${unchanged} changed nothing, ${swept} left something behind`,
  )
}

interface ItemFile {
  readonly path: string
  readonly texts: readonly string[]
}

function writeItems(directory: string, name: string, count: number): ItemFile {
  const path = join(directory, `${name}.ndjson`)
  const texts = Array.from({ length: count }, (_, index) => JSON.stringify({ id: `${name}-${index}`, of: count }))
  writeFileSync(path, texts.join('\n'))
  return { path, texts }
}

function importOf({ path }: ItemFile): string[] {
  return ['import', STOCK, path, '--key', 'id']
}

/** Swaps the whole collection, undisturbed; answers how long that took. */
async function importWhole(subject: StoreUnderTest, file: ItemFile): Promise<number> {
  const startedAt = performance.now()
  const { status, stderr } = await runReams([...importOf(file), '--replace'], subject.named)
  if (status !== 0) throw new Error(`reams import failed: ${stderr}`)
  return performance.now() - startedAt
}

/** Which of the states the collection is in. */
async function stateOf(
  subject: StoreUnderTest,
  states: readonly (readonly string[])[],
  findings: Findings,
): Promise<number> {
  using connection = subject.connect()
  const found = await walk(connection, STOCK, findings)
  const state = states.findIndex((texts) => isDeepStrictEqual(texts, found))
  if (state === -1) findings.add('partial', `${found.length} items are neither those of before nor those of afterwards`)
  return state
}

/** The next writer finds the way free, whatever the load left behind, as soon as it is known to be dead. */
async function writeOne(subject: StoreUnderTest, findings: Findings): Promise<void> {
  using connection = subject.connect()
  const body = JSON.stringify({ id: 'one more' })
  const question = { method: 'POST', path: `/${STOCK}`, type: 'application/json', body }
  const deadline = performance.now() + MAX_BUSY_MS[kindOf(subject)]
  let answer = await connection.ask(question)
  for (; answer.status === 503 && performance.now() < deadline; answer = await connection.ask(question))
    await sleep(100)
  if (answer.status !== 201)
    findings.add('other', `a write after the load was answered ${answer.status}: ${answer.body}`)
}

/** Without marks of leases and leftovers `reams verify` lets nothing pass that no reader sees. */
async function checkNothingStays(subject: StoreUnderTest, findings: Findings): Promise<void> {
  const isTidy = waitUntil(async () => (await marksIn(subject.path)) === 0, MAX_UNTIDY_MS[kindOf(subject)])
  await isTidy.catch(() => findings.add('other', 'leftovers of the load are still there after the next write'))
  await checkStore(subject.path, findings)
  if (kindOf(subject) === 'database') return
  const others = readdirSync(dirname(subject.path)).filter((name) => !/^reams\.db(-wal|-shm|-reserve)?$/.test(name))
  if (others.length > 0) findings.add('other', `files were left behind: ${others.join(', ')}`)
}

function kindOf({ path }: StoreUnderTest): 'file' | 'database' {
  return new DataLocation(path).isDatabase ? 'database' : 'file'
}

/** How many marks of loads there are: of running ones, and of what dead ones left behind. */
async function marksIn(location: string): Promise<number> {
  const sql = 'SELECT (SELECT count(*) FROM lease) + (SELECT count(*) FROM leftover) AS marks'
  if (new DataLocation(location).isDatabase) {
    const schema = new URL(location).searchParams.get('schema')
    return Number((await runSql(location, `SET search_path = ${schema}`, sql)).flat()[0])
  }
  using database = new DatabaseSync(location, { readOnly: true, timeout: 5_000 })
  return Number(database.prepare(sql).get()?.['marks'])
}
