import assert from 'node:assert/strict'
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { countCommits } from '../bench/commits.ts'
import { HealthyClient } from '../bench/healthy-client.ts'
import { KeepAliveConnection } from '../bench/keep-alive-connection.ts'
import { percentile } from '../bench/measure.ts'
import { isReached } from '../bench/question.ts'
import { QUESTIONS } from '../bench/questions/index.ts'
import { randomPages, randomSample } from '../bench/random.ts'
import { READERS, readRate } from '../bench/read-load.ts'
import { readRequests } from '../bench/read-requests.ts'
import { jsonOf, tableOf } from '../bench/report.ts'
import { medianSyncMs } from '../bench/slow-disk.ts'
import { writeRequests } from '../bench/write-requests.ts'
import { openSqliteStore } from '../src/store/sqlite/open.ts'
import { listenOn } from './check/hostile-servers.ts'
import { COMPILE_CACHE, temporaryFilesOf, workDirectory } from './cli/run-cli.ts'

const RUN = fileURLToPath(new URL('../bench/run.ts', import.meta.url))

interface Report {
  readonly answers: readonly {
    readonly question: string
    readonly skipped?: string
    readonly figures: readonly { readonly value: number; readonly raw: object }[]
  }[]
}

function startBench(words: readonly string[], temporaryFiles: string): ChildProcessByStdio<null, Readable, Readable> {
  return spawn(process.execPath, [RUN, ...words], {
    // Without the network, npm installs what it has kept, or a question is skipped.
    env: {
      PATH: process.env['PATH'],
      TMPDIR: temporaryFiles,
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      npm_config_offline: 'true',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

async function runBench(words: readonly string[], temporaryFiles: string) {
  const bench = startBench(words, temporaryFiles)
  const [stdout, stderr, [status]] = await Promise.all([text(bench.stdout), text(bench.stderr), once(bench, 'close')])
  return { stdout, stderr, status: status as number | null }
}

describe('the bench', () => {
  const [ofPostgres, others] = [true, false].map((isPostgres) =>
    QUESTIONS.map(({ name }) => name).filter((name) => name.startsWith('pg-') === isPostgres),
  )
  for (const [kind, names = []] of [
    ['PostgreSQL', ofPostgres],
    ['everything else', others],
  ] as const)
    it(`answers every question about ${kind}, keeps every figure, and removes its temporary files`, {
      timeout: 900_000,
    }, async (t) => {
      const path = workDirectory(t)
      const temporaryFiles = temporaryFilesOf(path)
      const output = join(path, 'figures.json')
      const words = [...names, '--items', '2000', '--requests', '20', '--rounds', '1', '--output', output]
      const { status, stdout, stderr } = await runBench(words, temporaryFiles)
      assert.equal(status, 0, stderr)
      for (const name of names) assert.match(stdout, new RegExp(`^${name} `, 'm'))
      const report: Report = JSON.parse(readFileSync(output, 'utf8'))
      const asked = report.answers.map(({ question }) => question)
      assert.deepEqual(asked, names)
      for (const { question, skipped, figures } of report.answers) {
        if (skipped !== undefined) assert.ok(stdout.includes(skipped), question)
        else assert.notEqual(figures.length, 0, question)
        for (const { value, raw } of figures) {
          assert.ok(Number.isFinite(value) && value > 0, `${question}: ${value}`)
          assert.notDeepEqual(raw, {}, question)
        }
      }
      assert.match(stderr, /^2,000 items: this takes about \d/)
      assert.deepEqual(readdirSync(temporaryFiles), [])
    })

  it('tells how much space replaced items take in PostgreSQL', async (t) => {
    const script = fileURLToPath(new URL('../bench/postgres/space.ts', import.meta.url))
    const temporaryFiles = temporaryFilesOf(workDirectory(t))
    const words = ['--minutes', '0.05', '--items', '2000', '--changes', '10', '--writers', '2']
    const env = { PATH: process.env['PATH'], TMPDIR: temporaryFiles, NODE_COMPILE_CACHE: COMPILE_CACHE }
    const bench = spawn(process.execPath, [script, ...words], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    assert.match(
      await text(bench.stdout),
      /TOAST \d+ MB, WAL \d+ MB, [1-9]\d* items replaced\n\nTOAST at most .*\nWAL: [1-9]/,
    )
    assert.deepEqual(readdirSync(temporaryFiles), [])
  })

  it('takes longer for a rate when no answer came in time', { timeout: 60_000 }, async (t) => {
    const path = workDirectory(t)
    const server = createHttpServer(async (_request, response) => {
      await setTimeout(1_500)
      response.end()
    })
    const url = await listenOn(t, server)
    const place = { isTryOut: true, path: (name: string) => join(path, name), signal: t.signal }
    const { requestsASecond } = await readRate(place, { url: `${url}/`, headers: {} })
    assert.ok(requestsASecond > 0 && requestsASecond < READERS, String(requestsASecond))
  })

  it('removes its temporary files when it is interrupted', async (t) => {
    const temporaryFiles = temporaryFilesOf(workDirectory(t))
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
    const temporaryFiles = temporaryFilesOf(workDirectory(t))
    const { status, stdout, stderr } = await runBench(['speed'], temporaryFiles)
    assert.equal(status, 2)
    assert.equal(stdout, '')
    assert.match(stderr, /There is no question "speed"\. Choose of: import, .*, pg-appends, .*\./)
  })

  it('refuses a number of items below one page', async (t) => {
    const temporaryFiles = temporaryFilesOf(workDirectory(t))
    for (const items of ['499', 'many', '-5', '1e6']) {
      const { status, stderr } = await runBench([`--items=${items}`], temporaryFiles)
      assert.equal(status, 2)
      assert.match(stderr, new RegExp(`--items is "${items}"; give a whole number of at least 500`))
    }
  })

  it('says why a question was not asked', () => {
    const answers = [{ question: 'slow-disk', answer: { skipped: 'strace is missing' }, durationMs: 1 }]
    assert.match(tableOf(answers), /^slow-disk +skipped: strace is missing/m)
    const run = { command: '', startedAt: new Date(), items: 500, requests: 1, rounds: 1, answers }
    assert.deepEqual(JSON.parse(jsonOf(run)).answers, [
      { question: 'slow-disk', seconds: 0.001, skipped: 'strace is missing', figures: [] },
    ])
  })

  it('counts the commits of a store', async (t) => {
    const path = workDirectory(t)
    const file = join(path, 'reams.db')
    const store = await openSqliteStore({ path: file, create: true })
    try {
      await store.create('events')
      const before = countCommits(file)
      for (let count = 0; count < 5; count++) await store.setPrivate('events', count % 2 === 0)
      assert.equal(countCommits(file) - before, 5)
    } finally {
      await store.close()
    }
  })

  it('takes an answer that comes in pieces for one answer', async (t) => {
    const pieces = ['HTTP/1.1 20', '1 Created\r\nContent-Length: 4\r\n', '\r\n{}', '\r\n']
    const server = createServer(async (socket) => {
      socket.setNoDelay()
      for await (const _ of socket)
        for (const piece of pieces) {
          socket.write(piece)
          await setTimeout(5)
        }
    })
    t.after(() => server.close())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const statuses = await new Promise((resolve) => {
      const answered: number[] = []
      const connection = new KeepAliveConnection(url, (status, connection) => {
        answered.push(status)
        if (answered.length < 2) connection.send('ask\r\n')
        else {
          connection.end()
          resolve(answered)
        }
      })
      connection.send('ask\r\n')
    })
    assert.deepEqual(statuses, [201, 201])
  })

  for (const [what, serve] of Object.entries({
    'no answer': () => {},
    'a refusal': (socket: Socket) =>
      socket.on('data', () => socket.write('HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n')),
    'a closed connection': (socket: Socket) => socket.destroy(),
  }))
    it(`counts ${what} as an answer that took as long as a healthy client waits`, async (t) => {
      const server = createServer((socket) => void serve(socket.on('error', () => {})))
      const url = `${await listenOn(t, server)}/events`
      const requests = readRequests({ kind: 'read', url, pages: 1 })
      using client = new HealthyClient({ url, requests, everyMs: 10, patienceMs: 300 })
      assert.deepEqual(await client.ask(40, t.signal), [300, 300, 300, 300])
    })

  it('skips a question that needs more open files than it may have, and says how to have them', async (t) => {
    const temporaryFiles = temporaryFilesOf(workDirectory(t))
    const bench = spawn('sh', ['-c', 'ulimit -n 250 && exec "$0" "$@"', process.execPath, RUN, 'idle-connections'], {
      env: { PATH: process.env['PATH'], TMPDIR: temporaryFiles },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    assert.match(await text(bench.stdout), /skipped: a process may open 250 files here.*"ulimit -n 10200"/)
  })

  it('changes every item once, in an order that the next load goes on with', (t) => {
    const path = workDirectory(t)
    const file = join(path, 'events.ndjson')
    const ids = Array.from({ length: 20 }, (_, index) => String(10_000_000 + index))
    writeFileSync(file, ids.map((id) => `{"id":${id},"seats":1}\n`).join(''))
    const options = { kind: 'change', file, url: 'http://127.0.0.1:1/events', token: 'reams_' } as const
    const whole = [...writeRequests(options)].map(({ head }) => String(head))
    const changed = whole.map((head) => /^(?:PUT|DELETE) \/events\/(\d+) /.exec(head)?.[1])
    assert.deepEqual(changed.toSorted(), ids)
    const rest = [...writeRequests({ ...options, skip: 8 })].map(({ head }) => String(head))
    assert.deepEqual(rest, whole.slice(8))
  })

  it('replaces, appends and deletes by PATCH, each item once, behind those that were changed before', (t) => {
    const path = workDirectory(t)
    const file = join(path, 'events.ndjson')
    const ids = Array.from({ length: 2_500 }, (_, index) => String(10_000_000 + index))
    writeFileSync(file, ids.map((id) => `{"id":${id},"seats":1}\n`).join(''))
    const options = { kind: 'patch-mixed', file, url: 'http://127.0.0.1:1/events', token: 'reams_' } as const
    const bodies = (skip: number) => [...writeRequests({ ...options, skip })].map(({ body }) => String(body))
    const changes = bodies(0).flatMap((body) =>
      body
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    )
    const keys = changes.map(({ key, item }) => Number(key ?? item.id))
    const count = (isSo: (index: number) => boolean) => keys.filter((_, index) => isSo(index)).length
    assert.equal(
      count((index) => changes[index].op === 'delete'),
      125,
    )
    assert.equal(
      count((index) => (keys[index] ?? 0) >= 10_002_500),
      125,
    )
    assert.deepEqual(keys.map((key) => String(key < 10_002_500 ? key : key - 2_500)).toSorted(), ids)
    assert.deepEqual(bodies(1_000), bodies(0).slice(1))
  })

  it('does not take a disk for slow whose syncs are fast', (t) => {
    const path = workDirectory(t)
    const file = join(path, 'syncs')
    writeFileSync(file, '7 fdatasync(21) = 0 (DELAYED) <0.002388>\n7 +++ exited with 0 +++\n')
    assert.equal(medianSyncMs(file), 2.388)
    writeFileSync(file, '7 fdatasync(21) = 0 <0.000388>\n')
    assert.throws(() => medianSyncMs(file), /A sync took 0\.388 ms/)
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
    assert.equal(drawn.join(), drawn.toSorted((a, b) => a - b).join())
    assert.ok(drawn.every((number) => number >= 0 && number < 1000))
    assert.deepEqual([...randomSample(5, 5, 1)], [0, 1, 2, 3, 4])
  })
})
