import assert from 'node:assert/strict'
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { percentile } from '../bench/measure.ts'
import { isReached } from '../bench/question.ts'
import { QUESTIONS } from '../bench/questions/index.ts'
import { randomPages, randomSample } from '../bench/random.ts'

const RUN = fileURLToPath(new URL('../bench/run.ts', import.meta.url))

/** Halves the time that each of the many programs takes to start. */
const COMPILE_CACHE = fileURLToPath(new URL('../node_modules/.cache/reams', import.meta.url))

interface Report {
  readonly answers: readonly { question: string; figures: readonly { value: number; raw: object }[] }[]
}

function workDirectory(t: TestContext): { path: string; temporaryFiles: string } {
  const path = mkdtempSync(join(tmpdir(), 'reams-bench-test-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  const temporaryFiles = join(path, 'tmp')
  mkdirSync(temporaryFiles)
  return { path, temporaryFiles }
}

function startBench(words: readonly string[], temporaryFiles: string): ChildProcessByStdio<null, Readable, Readable> {
  return spawn(process.execPath, [RUN, ...words], {
    env: { PATH: process.env['PATH'], TMPDIR: temporaryFiles, NODE_COMPILE_CACHE: COMPILE_CACHE },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

async function runBench(words: readonly string[], temporaryFiles: string) {
  const bench = startBench(words, temporaryFiles)
  const [stdout, stderr, [status]] = await Promise.all([text(bench.stdout), text(bench.stderr), once(bench, 'close')])
  return { stdout, stderr, status: status as number | null }
}

describe('the bench', () => {
  it('answers every question, keeps every figure, and removes its temporary files', async (t) => {
    const { path, temporaryFiles } = workDirectory(t)
    const output = join(path, 'figures.json')
    const words = ['--items', '2000', '--requests', '20', '--rounds', '1', '--output', output]
    const { status, stdout, stderr } = await runBench(words, temporaryFiles)
    assert.equal(status, 0, stderr)
    const names = QUESTIONS.map(({ name }) => name)
    for (const name of names) assert.match(stdout, new RegExp(`^${name} `, 'm'))
    const report: Report = JSON.parse(readFileSync(output, 'utf8'))
    assert.deepEqual(
      report.answers.map(({ question }) => question),
      names,
    )
    for (const { question, figures } of report.answers) {
      assert.notEqual(figures.length, 0, question)
      for (const { value, raw } of figures) {
        assert.ok(Number.isFinite(value) && value > 0, `${question}: ${value}`)
        assert.notDeepEqual(raw, {}, question)
      }
    }
    assert.match(stderr, /^2,000 items: this takes about \d/)
    assert.deepEqual(readdirSync(temporaryFiles), [])
  })

  it('removes its temporary files when it is interrupted', async (t) => {
    const { temporaryFiles } = workDirectory(t)
    const bench = startBench(['depth', '--items', '5000000'], temporaryFiles)
    t.after(() => bench.kill('SIGKILL'))
    const closed = once(bench, 'close')
    let told = ''
    for await (const chunk of bench.stderr.iterator({ destroyOnReturn: false })) {
      told += chunk
      if (told.includes('generating the items')) break
    }
    assert.equal(readdirSync(temporaryFiles).length, 1)
    bench.kill('SIGINT')
    assert.deepEqual(await closed, [130, null])
    assert.deepEqual(readdirSync(temporaryFiles), [])
  })

  it('refuses a question that it does not know, and names those that it does', async (t) => {
    const { temporaryFiles } = workDirectory(t)
    const { status, stdout, stderr } = await runBench(['speed'], temporaryFiles)
    assert.equal(status, 2)
    assert.equal(stdout, '')
    assert.match(stderr, /There is no question "speed"\. Choose of: import, .*, holes\./)
  })

  it('refuses a number of items below one page', async (t) => {
    const { temporaryFiles } = workDirectory(t)
    for (const items of ['499', 'many', '-5', '1e6']) {
      const { status, stderr } = await runBench([`--items=${items}`], temporaryFiles)
      assert.equal(status, 2)
      assert.match(stderr, new RegExp(`--items is "${items}"; give a whole number of at least 500`))
    }
  })

  it('takes the p50 of measurements in any order', () => {
    assert.equal(percentile([9, 1, 5], 50), 5)
    assert.equal(percentile([4, 3, 2, 1], 50), 2)
    assert.equal(percentile([1, 2, 3], 99), 3)
    assert.throws(() => percentile([], 50), RangeError)
  })

  it('counts a figure that is exactly what is required as reached', () => {
    assert.equal(isReached(1.1, { atMost: 1.1 }), true)
    assert.equal(isReached(1.11, { atMost: 1.1 }), false)
    assert.equal(isReached(0.7, { atLeast: 0.7 }), true)
    assert.equal(isReached(0.69, { atLeast: 0.7 }), false)
  })

  it('asks for every page before it asks for one again', () => {
    const pages = randomPages(30, 20, 1)
    assert.equal(new Set(pages.slice(0, 20)).size, 20)
    assert.ok(pages.every((page) => page >= 1 && page <= 20))
    assert.deepEqual(randomPages(30, 20, 1), pages)
  })

  it('draws exactly as many items as wanted, each once and in order', () => {
    const drawn = [...randomSample(10, 1000, 1)]
    assert.equal(new Set(drawn).size, 10)
    assert.deepEqual(
      drawn,
      drawn.toSorted((a, b) => a - b),
    )
    assert.ok(drawn.every((number) => number >= 0 && number < 1000))
    assert.deepEqual([...randomSample(5, 5, 1)], [0, 1, 2, 3, 4])
  })
})
