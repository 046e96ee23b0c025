import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { after, describe, it, type TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { createService } from '../../../src/service/create-service.ts'
import type { ListenOptions } from '../../../src/service/node/listen.ts'
import { ReamsProcess } from '../../faults/reams-process.ts'
import { fill, numbered } from '../open-service.ts'
import { answersTo, askRaw, listenFor, openSocket, parseAnswers, readToEnd } from '../raw-http.ts'
import { isWhole } from '../whole.ts'
import { GZIP, JSON_TYPE, sharedWriteServer } from '../write-server.ts'
import { OPENINGS, resetAfter, resetInAnswer } from './resets.ts'

const HOST = 'Host: localhost\r\n'
const GET_BIG = `GET /big HTTP/1.1\r\n${HOST}\r\n`
const CLOSE = `${HOST}Connection: close\r\n\r\n`

/** Pages of 2.5 MB. */
const BIG = Array.from({ length: 1_500 }, (_, id) => ({ id, text: `${'0123456789'.repeat(500)}${id}` }))

/** The real program on a store of its own, for all tests of this file. */
let program: ReamsProcess
let port = 0
const server = sharedWriteServer(async ({ store, location }) => {
  await fill(store, 'events', numbered(600))
  const items = BIG.map((each) => JSON.stringify(each))
  await fill(store, 'big', items)
  program = new ReamsProcess(['serve', '--store', location, '--port', '0'])
  port = Number(new URL(await program.address()).port)
})
after(() => program[Symbol.asyncDispose]())

const writer = async (): Promise<string> => (await server().tokenOf(['write:events'])).Authorization

/** Asks again and again until `work` is done; each answer must be whole and right. */
async function bystand(work: Promise<unknown> = Promise.resolve()): Promise<void> {
  let isDone = false
  const done = work.finally(() => {
    isDone = true
  })
  for (let answers = 0; !isDone || answers === 0; answers++) {
    const response = await fetch(`http://127.0.0.1:${port}/events`)
    assert.equal(response.status, 200)
    assert.equal(JSON.parse(await response.text())._embedded.events.length, 500)
  }
  await done
}

/** The memory of the program now, or what it was at most. */
function residentBytes(field: 'VmRSS' | 'VmHWM' = 'VmRSS'): number {
  const status = readFileSync(`/proc/${program.pid}/status`, 'utf8')
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) * 1024
}

/** The same store served by this process. Without a cache every answer has memory of its own. */
async function start(t: TestContext, options: Partial<ListenOptions> = {}): Promise<number> {
  return (await listenFor(t, { ...createService({ store: server().store, cacheBytes: 0 }), ...options })).port
}

const [ROUNDS, AT_ONCE] = isWhole() ? [10_000, 32] : [60, 2]

it('resets end no process, whatever came before them and wherever they come', async () => {
  const attack = async (): Promise<void> => {
    for (const text of OPENINGS)
      for (let round = 0; round < ROUNDS; round += AT_ONCE)
        await Promise.all(
          Array.from({ length: AT_ONCE }, (_, index) => {
            // At every byte in turn, and every other time behind the last one.
            const length = index % 2 === 0 ? text.length : ((round + index) * 7) % text.length
            return resetAfter(port, text, length, (round / AT_ONCE + index) % 5)
          }),
        )
    for (let bytes = 1; bytes < 2_000_000; bytes = bytes * 2 + 1) await resetInAnswer(port, GET_BIG, bytes)
  }
  await bystand(attack())
})

describe('a client that floods a connection', () => {
  it('with reads has all of them answered in turn, and nobody else waits for that', async () => {
    await bystand()
    const before = residentBytes()
    const count = isWhole() ? 20_000 : 10_000
    const bystanders = isWhole() ? 20 : 10
    let answered = 0
    const flooding = (async () => {
      const socket = await openSocket(port)
      socket.write(`GET /-/nothing HTTP/1.1\r\n${HOST}\r\n`.repeat(count))
      let tail = ''
      for await (const chunk of socket) {
        const text = tail + chunk.toString('latin1')
        answered += text.split('HTTP/1.1 404').length - 1
        tail = text.slice(-11)
        if (answered === count) break
      }
    })()
    // Asked one after the other, they overtake most of what was sent before them.
    while (answered === 0) await new Promise(setImmediate)
    for (let asked = 0; asked < bystanders; asked++) await bystand()
    assert.ok(answered < count / 2, `${answered} of ${count} were answered before ${bystanders} others`)
    await flooding
    assert.equal(answered, count)
    assert.ok(residentBytes() - before < 200_000_000, `${residentBytes() - before} bytes more`)
  })

  it('with writes that nobody may do keeps nobody from writing', async () => {
    const authorization = await writer()
    const sockets = await Promise.all(Array.from({ length: 20 }, () => openSocket(port)))
    let refused = 0
    const count = 2_000
    for (const socket of sockets) {
      socket.on('data', (chunk) => {
        refused += chunk.toString('latin1').split('HTTP/1.1 401').length - 1
      })
      socket.write(`POST /events HTTP/1.1\r\n${HOST}Content-Length: 0\r\n\r\n`.repeat(count))
    }
    while (refused === 0) await new Promise(setImmediate)
    for (let id = 1000; id < 1020; id++) {
      const init = { method: 'POST', headers: { Authorization: authorization, ...JSON_TYPE }, body: `{"id":${id}}` }
      assert.equal((await fetch(`http://127.0.0.1:${port}/events`, init)).status, 201)
    }
    assert.ok(refused < (count * sockets.length) / 2, `${refused} were refused before 20 were written`)
    for (const socket of sockets) socket.resetAndDestroy()
  })

  it('and goes on with a body that is refused and broken is disconnected without a warning', async (t) => {
    const warnings: string[] = []
    const onWarning = ({ message }: Error): void => void warnings.push(message)
    process.on('warning', onWarning)
    t.after(() => process.off('warning', onWarning))
    const port = await start(t)
    await answersTo(port, `${`GET / HTTP/1.1\r\n${HOST}\r\n`.repeat(100)}GET / HTTP/1.1\r\n${CLOSE}`)
    const socket = await openSocket(port)
    socket.write(`POST /events HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n`)
    assert.match(String(await once(socket, 'data')), /^HTTP\/1\.1 401 /)
    socket.on('error', () => {}).write('not a chunk\r\n'.repeat(4_000))
    await once(socket, 'close')
    assert.deepEqual(warnings, [])
  })
})

describe('clients that are slow to take their answers', () => {
  /** Asks for a large page over several connections, and takes nothing of it. */
  async function askForMany(port: number, count: number) {
    const sockets = await Promise.all(Array.from({ length: count }, () => openSocket(port)))
    let closed = 0
    for (const socket of sockets) {
      socket.on('error', () => {}).once('close', () => closed++)
      socket.pause().write(`${GET_BIG}${GET_BIG.replace('big', 'big?page=2').repeat(3)}`)
    }
    return { sockets, closed: () => closed }
  }

  it('hold so much together, and beyond it the slowest goes, never a bystander', async (t) => {
    const port = await start(t, { unsentBytes: 8_000_000 })
    const { sockets, closed } = await askForMany(port, 12)
    while (closed() < 5) {
      assert.equal((await fetch(`http://127.0.0.1:${port}/big`)).status, 200)
      // A socket that is paused does not notice that it was reset.
      for (const socket of sockets) if (!socket.destroyed) socket.write('G')
    }
    const whole = await askRaw(port, `GET /big?page=3 HTTP/1.1\r\n${CLOSE}`)
    assert.equal(JSON.parse(whole.body.toString())._embedded.big.length, 500)
    for (const socket of sockets) socket.destroy()
  })

  it('go before one that reads slowly, though it asked before them', async (t) => {
    const port = await start(t, { unsentBytes: 8_000_000 })
    const reader = await openSocket(port)
    const count = isWhole() ? 10 : 6
    reader.pause().write(`${GET_BIG.repeat(count - 1)}GET /big HTTP/1.1\r\n${CLOSE}`)
    const chunks: Buffer[] = []
    const crowds: Awaited<ReturnType<typeof askForMany>>[] = []
    let length = 0
    while (!reader.readableEnded && !reader.destroyed) {
      await setTimeout(10)
      const chunk = reader.read(Math.min(reader.readableLength, 100_000))
      if (chunk !== null) chunks.push(chunk)
      length += chunk?.length ?? 0
      // Whoever came within the last quarter of a second is not judged yet.
      if (crowds.length < (length - 4_000_000) / 5_000_000) crowds.push(await askForMany(port, 4))
    }
    assert.equal(parseAnswers(Buffer.concat(chunks)).length, count)
    for (const { sockets } of crowds) for (const socket of sockets) socket.destroy()
  })

  it('are disconnected when they take less than the least rate, and others are not', async (t) => {
    const port = await start(t, { sendGraceMs: 50, minBytesPerSecond: 100_000_000 })
    const { sockets, closed } = await askForMany(port, 5)
    while (closed() < sockets.length) {
      assert.equal((await fetch(`http://127.0.0.1:${port}/events`)).status, 200)
      for (const socket of sockets) if (!socket.destroyed) socket.write('G')
    }
  })

  it('but faster than the least rate get all of them', async (t) => {
    const port = await start(t, { sendGraceMs: 100, minBytesPerSecond: 200_000 })
    const socket = await openSocket(port)
    socket.pause().write(`${GET_BIG.repeat(3)}GET /big HTTP/1.1\r\n${CLOSE}`)
    const chunks: Buffer[] = []
    // For some time at more than twice the rate, while others read other pages; the rest may come as it likes.
    for (let tick = 0; tick < (isWhole() ? 40 : 15); tick++) {
      await setTimeout(100)
      chunks.push(socket.read(50_000) ?? Buffer.alloc(0))
      assert.equal((await fetch(`http://127.0.0.1:${port}/big?page=${2 + (tick % 2)}`)).status, 200)
    }
    chunks.push(await readToEnd(socket))
    const answers = parseAnswers(Buffer.concat(chunks))
    assert.equal(answers.length, 4)
    for (const { body } of answers) assert.deepEqual(JSON.parse(body.toString())._embedded.big, BIG.slice(0, 500))
  })
})

it('bodies that are announced and never sent keep nobody from writing, not even with the same token', async () => {
  const authorization = await writer()
  const head = `POST /events HTTP/1.1\r\n${HOST}Authorization: ${authorization}\r\nContent-Type: application/json\r\n`
  const sockets = await Promise.all(Array.from({ length: 600 }, () => openSocket(port)))
  for (const socket of sockets) socket.write(`${head}Content-Length: 262144\r\n\r\n `)
  await bystand()
  for (let id = 2000; id < 2010; id++) {
    const body = `{"id":${id}}`
    const answer = await askRaw(port, `${head}Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`)
    assert.equal(answer.status, 201)
  }
  for (const socket of sockets) socket.resetAndDestroy()
})

it('gzip bombs are refused without being held: many of them at once take no more memory than a few', async () => {
  const body = gzipSync(Buffer.alloc(100_000_000, ' '))
  const headers = { Authorization: await writer(), ...JSON_TYPE, ...GZIP }
  const explode = async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/events`, { method: 'POST', body, headers })
    assert.match(await answer.text(), /content-too-large.*more than 200 times its/)
  }
  for (let count = 0; count < 2; count++) await explode()
  const few = residentBytes('VmHWM')
  await Promise.all(Array.from({ length: isWhole() ? 50 : 15 }, explode))
  // Held, each would take twenty megabytes.
  assert.ok(residentBytes('VmHWM') - few < 200_000_000, `${residentBytes('VmHWM') - few} bytes more`)
})

it('a web page whose host was made to point here reads nothing, where the program was told no address', async () => {
  const statusFor = async (host: string, target = '/events') =>
    (await askRaw(port, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)).status
  for (const host of ['evil.example', `evil.example:${port}`, '192.0.2.1'])
    assert.deepEqual([await statusFor(host), await statusFor('localhost', `http://${host}/events`)], [421, 421])
  for (const host of ['localhost:1', '127.0.0.1', `[::1]:${port}`]) assert.equal(await statusFor(host), 200)
})
