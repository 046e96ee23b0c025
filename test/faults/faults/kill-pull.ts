/** kill -9 of a pull at a random moment; it is resumed until the file is there, which must be like an undisturbed one. */

import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import type { Random } from '../../../bench/random.ts'
import type { Trial } from '../fault.ts'
import { MirrorSite } from '../mirror-site.ts'
import { ReamsProcess } from '../reams-process.ts'
import type { Report } from '../report.ts'

/** With the delays, some seconds for a whole pull: it notes how far it is once a second. */
const ITEMS = 150_000
const DELAY_MS = 90
const OPEN_MS = 5

/** Each pull takes the next one. */
const NAMES = ['events.ndjson', 'events.json', 'events.csv', 'events.ndjson.gz', 'events.csv.gz']

export async function killPulls({ directory, rounds, random, report, beginRound }: Trial): Promise<void> {
  await using site = await MirrorSite.start('the origin', join(directory, 'reams.db'))
  const source = join(directory, 'source.ndjson')
  const lines = Array.from({ length: ITEMS }, (_, index) => `{"id":${index},"title":"Event, \\"${index}\\""}\n`)
  writeFileSync(source, lines.join(''))
  await site.run(['import', 'events', source])
  const undisturbed = new Map<string, Buffer>()
  const words = ['pull', site.urlOf('events'), '--resume']
  const outcomes = { killed: 0, resumed: 0, finished: 0 }
  for (let done = 0, file = 0; done < rounds; file++) {
    const name = NAMES[file % NAMES.length] ?? ''
    const path = join(directory, name)
    for (let isFinished = false; !isFinished; ) {
      // When all rounds are done, the last file is still finished.
      const isLast = done === rounds
      if (!isLast) beginRound()
      done += isLast ? 0 : 1
      if (partIn(path) > 0) outcomes.resumed++
      // Of one that was killed behind its last step: the next says that there is nothing to do, and cleans up.
      const isThere = existsSync(path)
      await using pull = new ReamsProcess([...words, '-o', path])
      if (!isLast) await moment(pull, site, random)
      const { status, stderr } = isLast ? await pull.ends() : await pull.kill()
      if (status === null) outcomes.killed++
      else if (status !== (isThere ? 2 : 0)) report.findings.add('other', `a pull ended with ${status}: ${stderr}`)
      isFinished = status !== null
    }
    outcomes.finished++
    const expected = undisturbed.get(name) ?? (await pullUndisturbed(directory, site, name))
    undisturbed.set(name, expected)
    compare(path, expected, report)
    rmSync(path, { force: true })
  }
  checkNothingStays(directory, report)
  report.checked += outcomes.finished * ITEMS
  report.notes.push(
    `${outcomes.killed} pulls were killed, ${outcomes.resumed} went on behind a part, and ${outcomes.finished} files were compared`,
  )
}

/** From the start of the program on, up to a little more than a whole pull takes on a line that stands still again and again. */
async function moment(pull: ReamsProcess, { line }: MirrorSite, random: Random): Promise<void> {
  for (const end = performance.now() + random(3_500); performance.now() < end && !pull.hasEnded; ) {
    line.hold()
    await sleep(random(DELAY_MS))
    line.release()
    await sleep(OPEN_MS)
  }
}

/** The items that a part holds for certain. */
function partIn(path: string): number {
  try {
    return JSON.parse(readFileSync(`${path}.part.json`, 'utf8')).walk?.items ?? 0
  } catch {
    return 0
  }
}

/** What a pull that nobody disturbs brings. */
async function pullUndisturbed(directory: string, site: MirrorSite, name: string): Promise<Buffer> {
  const path = join(directory, `undisturbed-${name}`)
  await site.run(['pull', site.urlOf('events'), '-o', path])
  const content = contentOf(path)
  rmSync(path)
  return content
}

function compare(path: string, expected: Buffer, { findings }: Report): void {
  const found = contentOf(path)
  if (found.equals(expected)) return
  const [lines, expectedLines] = [found, expected].map((content) => content.toString().split('\n').length)
  findings.add('partial', `${path} has ${lines} lines, and differs from an undisturbed pull with ${expectedLines}`)
}

/** Packed, two pulls differ by where they were interrupted. */
function contentOf(path: string): Buffer {
  const bytes = readFileSync(path)
  return path.endsWith('.gz') ? gunzipSync(bytes) : bytes
}

function checkNothingStays(directory: string, { findings }: Report): void {
  const others = readdirSync(directory).filter((name) => name.startsWith('events'))
  if (others.length > 0) findings.add('other', `files were left behind: ${others.join(', ')}`)
}
