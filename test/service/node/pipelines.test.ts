/** Several requests ahead on one connection, and what may happen to it between two of them. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import type { Incoming } from '../../../src/service/incoming.ts'
import { DONE, type Reply } from '../../../src/service/reply.ts'
import { waitUntil } from '../../wait-until.ts'
import { answersOn, answersTo, listenFor, openSocket, readToEnd, statusesOf } from '../raw-http.ts'

const HOST = 'Host: localhost\r\n'
const GET = `GET /events HTTP/1.1\r\n${HOST}\r\n`
const BROKEN_OFF = `POST /events HTTP/1.1\r\n${HOST}Content-Length: 10\r\n\r\nabc`

async function echo({ target }: Incoming): Promise<Reply> {
  return { status: 200, headers: { 'Content-Length': `${target.length}` }, body: target }
}

/** An answer, and what is to happen when it has gone out and the next request is not begun yet. */
function answerThen(happen: () => unknown): Promise<Reply> {
  const { promise, resolve } = Promise.withResolvers<Reply>()
  setImmediate(async () => {
    resolve(DONE)
    for (let turn = 0; turn < 20; turn++) await undefined
    happen()
  })
  return promise
}

/** Makes the server look out for floods. */
async function flood(port: number): Promise<void> {
  assert.equal((await answersTo(port, GET.repeat(100), { isHalfClosed: true })).length, 100)
}

describe('a connection with requests ahead', () => {
  it('does not wait for ever for the rest of one that had no time left before it was begun', async (t) => {
    const limits = { headersTimeoutMs: 100, requestTimeoutMs: 100 }
    const reply = async ({ method, readBody }: Incoming): Promise<Reply> => {
      // The server looks for requests that take too long every so often.
      if (method === 'GET') await setTimeout(300)
      else await readBody(() => {})
      return DONE
    }
    const { port } = await listenFor(t, { reply, ...limits })
    let statuses = statusesOf(await answersTo(port, GET + BROKEN_OFF))
    // A machine may be too slow even for the first.
    while (statuses[0] === 408) statuses = statusesOf(await answersTo(port, GET + BROKEN_OFF))
    assert.deepEqual(statuses, [204, 408])
  })

  it('gives back the memory of those when it is reset between two of them', async (t) => {
    let reset = (): unknown => undefined
    const reply = async (): Promise<Reply> => {
      reset()
      return DONE
    }
    const { port } = await listenFor(t, { reply, unsentBytes: 40_000 })
    for (let round = 0; round < 20; round++) {
      const socket = await openSocket(port)
      reset = () => socket.resetAndDestroy()
      socket.write(GET.repeat(3))
      await once(socket, 'close')
    }
    reset = () => undefined
    assert.equal((await answersTo(port, GET.repeat(5), { isHalfClosed: true })).length, 5)
  })

  it('is closed when the last of them breaks off between two', async (t) => {
    let breakOff: (() => void) | undefined
    const { port } = await listenFor(t, { reply: async () => (breakOff ? answerThen(breakOff) : DONE) })
    await flood(port)
    const socket = await openSocket(port)
    breakOff = () => socket.end()
    socket.write(GET + BROKEN_OFF)
    assert.deepEqual(statusesOf(await answersOn(socket)), [204, 400])
  })

  it('gets the error after a malformed request when the client half-closes before the reply to the one before it', async (t) => {
    const { promise: first, resolve } = Promise.withResolvers<Reply>()
    let isBegun = false
    const { port } = await listenFor(t, {
      reply: ({ target }) => {
        isBegun ||= target === '/first'
        return target === '/first' ? first : Promise.resolve(DONE)
      },
    })
    await flood(port)
    const socket = await openSocket(port)
    socket.end(`GET /first HTTP/1.1\r\n${HOST}\r\nnonsense\r\n\r\n`)
    await waitUntil(() => isBegun)
    // The server has time to notice that the client half-closed.
    await setTimeout(100)
    const body = Buffer.alloc(4_000_000, 'x')
    resolve({ status: 200, headers: { 'Content-Length': `${body.length}` }, body })
    assert.deepEqual(statusesOf(await answersOn(socket)), [200, 400])
  })

  it('is let go when more requests stand behind the last one that is answered', async (t) => {
    const { port, load } = await listenFor(t, { reply: echo })
    await flood(port)
    const last = `GET /last HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`
    for (const behind of [GET, GET.repeat(20), GET.repeat(2_000), BROKEN_OFF, 'nonsense\r\n\r\n']) {
      const sockets = await Promise.all(Array.from({ length: 10 }, () => openSocket(port)))
      for (const socket of sockets) socket.on('error', () => {}).end(GET.repeat(40) + last + behind)
      await waitUntil(() => load().connections === 0)
      for (const socket of sockets) socket.destroy()
    }
  })

  it('has all of them answered when it is half-closed, also while floods are looked out for', async (t) => {
    const { port } = await listenFor(t, { reply: echo })
    await flood(port)
    for (const count of [15, 100, 2_000]) {
      const targets = Array.from({ length: count }, (_, place) => `/${place}`)
      const requests = targets.map((target) => `GET ${target} HTTP/1.1\r\n${HOST}\r\n`)
      // A body that does not fit into one read, and that nobody takes.
      const middle = requests.length >> 1
      requests[middle] = `POST ${targets[middle]} HTTP/1.1\r\n${HOST}Content-Length: 90000\r\n\r\n${'x'.repeat(90_000)}`
      const bodies = (await answersTo(port, requests.join(''), { isHalfClosed: true })).map(({ body }) =>
        body.toString(),
      )
      assert.deepEqual(bodies, targets)
    }
  })

  it('is told what is wrong behind a long answer, also when it is half-closed during that', async (t) => {
    const body = Buffer.alloc(4_000_000, 'x')
    const reply = async () => ({ status: 200, headers: { 'Content-Length': `${body.length}` }, body })
    const { port } = await listenFor(t, { reply })
    const malformed = `OPTIONS  HTTP/1.1\r\n${HOST}\r\n`
    assert.deepEqual(statusesOf(await answersTo(port, GET + malformed, { isHalfClosed: true })), [200, 400])
    assert.deepEqual(statusesOf(await answersTo(port, GET + GET + malformed, { isHalfClosed: true })), [200, 200, 400])
  })

  it('is not read any further while they wait, be the last of them as long as it may', async (t) => {
    const { promise: first, resolve: answerFirst } = Promise.withResolvers<Reply>()
    const reply = async (request: Incoming): Promise<Reply> => {
      if (request.target === '/first') return first
      if (request.method === 'POST') await request.readBody(() => {})
      return echo(request)
    }
    const { port } = await listenFor(t, { reply })
    const socket = await openSocket(port)
    const body = Buffer.alloc(50_000_000)
    socket.write(`GET /first HTTP/1.1\r\n${HOST}\r\n${GET}`)
    socket.write(`POST /events HTTP/1.1\r\n${HOST}Content-Length: ${body.length}\r\n\r\n`)
    socket.end(body)
    for (let asked = 0; asked < 100; asked++) assert.equal((await fetch(`http://127.0.0.1:${port}/`)).status, 200)
    assert.ok(socket.writableLength > body.length / 2, `${body.length - socket.writableLength} bytes were read`)
    answerFirst(DONE)
    assert.equal((await answersOn(socket)).length, 3)
  })

  it('has none of them done behind an answer that said it is the last', async (t) => {
    const asked: string[] = []
    const reply = async (request: Incoming): Promise<Reply> => {
      asked.push(request.method)
      return echo(request)
    }
    const { port } = await listenFor(t, { reply })
    const remove = `DELETE /events/1 HTTP/1.1\r\n${HOST}\r\n`
    // Its body could be taken for a request, if the head after an Upgrade in the same read were skipped.
    const upgrade = `GET / HTTP/1.1\r\n${HOST}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`
    const hidden = `${upgrade}POST / HTTP/1.1\r\n${HOST}Content-Length: ${remove.length}\r\n\r\n`
    const old = 'POST / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'
    const unwanted = `POST /events HTTP/1.1\r\n${HOST}Expect: 100-continue\r\nContent-Length: 3\r\n\r\nabc`
    for (const last of ['GET / HTTP/1.1\r\nHost: a b\r\n\r\n', unwanted, upgrade, hidden, old])
      for (let round = 0; round < 10; round++) {
        const socket = await openSocket(port)
        socket.setNoDelay().write(last)
        if (last === hidden) await new Promise(setImmediate)
        socket.write(remove)
        const [answer, ...others] = await answersOn(socket)
        assert.equal(answer?.headers.get('connection'), 'close')
        assert.equal(others.length, 0)
      }
    assert.ok(!asked.includes('DELETE'))
  })

  it('and others like it do not keep new connections waiting', async (t) => {
    let answered = 0
    let answeredBefore = Number.NaN
    const reply = async (request: Incoming): Promise<Reply> => {
      answered++
      if (request.target === '/new') answeredBefore = answered
      return echo(request)
    }
    const { port } = await listenFor(t, { reply })
    const sockets = await Promise.all(Array.from({ length: 100 }, () => openSocket(port)))
    for (const socket of sockets) socket.resume().write(GET.repeat(500))
    const [newcomer] = await answersTo(port, `GET /new HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`)
    assert.equal(newcomer?.status, 200)
    assert.ok(answeredBefore < 10_000, `${answeredBefore} others were answered before`)
    for (const socket of sockets) socket.destroy()
  })
})

describe('a connection whose last answer has gone out', () => {
  it('says nothing more when the rest of that request breaks off', async (t) => {
    const { port } = await listenFor(t, { reply: async () => DONE })
    const socket = await openSocket(port)
    socket.write(`POST /events HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n5\r\nab`)
    const [answer] = await once(socket, 'data')
    assert.match(answer.toString(), /^HTTP\/1\.1 204 /)
    socket.write('no chunk at all\r\n'.repeat(10))
    assert.equal((await readToEnd(socket)).length, 0)
  })

  it('says nothing more about what follows a request to close it', async (t) => {
    const { port } = await listenFor(t, { reply: async () => DONE })
    const text = `GET /events HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n${GET}NONSENSE\r\n\r\n`
    assert.equal((await answersTo(port, text)).length, 1)
  })
})
