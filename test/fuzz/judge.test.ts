import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { exchange } from './exchange.ts'
import { judge } from './judge.ts'
import { Ledger } from './ledger.ts'
import type { Message } from './message.ts'
import { WHOLE } from './plan.ts'
import { EVENTS, SECRET, TOKENS } from './site.ts'

/** What a wrong server is given to answer or to close, when others wait for it. */
const PATIENCE_MS = 300

const GET: Message = { bytes: Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n'), kind: 'ordinary', statuses: [200] }
const ANY: Message = { ...GET, kind: 'last' }
const { statuses: _, ...REFUSED } = GET

function answer(status: number, body: string, headers: Readonly<Record<string, string>> = {}): string {
  const all = { 'Content-Type': 'application/json', 'Content-Length': `${Buffer.byteLength(body)}`, ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} Word\r\n${lines.join('')}\r\n${body}`
}

function problem(name: string, status: number): string {
  const body = JSON.stringify({ type: `http://a/-/problems/${name}`, title: '', status, detail: '', hint: '' })
  return answer(status, body, { 'Content-Type': 'application/problem+json' })
}

/** What is said of a server that does this with a connection on which something came. */
async function verdictOn(
  t: TestContext,
  messages: readonly Message[],
  serve: (socket: Socket) => void,
): Promise<string[]> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {})
    socket.once('data', () => serve(socket))
    t.after(() => socket.destroy())
  }).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const plan = { messages, delivery: WHOLE }
  return judge(plan, await exchange(port, plan, PATIENCE_MS))
}

const saying = (text: string) => (socket: Socket) => {
  socket.end(text)
}

describe('the judge of a server', () => {
  it('finds nothing wrong with right answers', async (t) => {
    assert.deepEqual(await verdictOn(t, [GET], saying(answer(200, '{}'))), [])
    const both = `HTTP/1.1 100 Continue\r\n\r\n${answer(200, '{}')}${answer(200, '{}')}`
    assert.deepEqual(await verdictOn(t, [GET, GET], saying(both)), [])
    assert.deepEqual(await verdictOn(t, [REFUSED], saying(problem('invalid-page', 400))), [])
    assert.deepEqual(
      await verdictOn(t, [{ ...GET, isHead: true }], saying(answer(200, '', { 'Content-Length': '7' }))),
      [],
    )
    assert.deepEqual(await verdictOn(t, [{ ...GET, kind: 'odd' }], saying('')), [])
  })

  const wrong: readonly [flaw: string, messages: readonly Message[], serve: (socket: Socket) => void][] = [
    ['a request was answered 500', [REFUSED], saying(problem('internal-error', 500))],
    ['a request was answered store-unavailable', [REFUSED], saying(problem('store-unavailable', 503))],
    ['a request was answered 404 instead of 200', [GET], saying(problem('path-not-found', 404))],
    ['a 404 has the Content-Type application/json', [REFUSED], saying(answer(404, '{}'))],
    [
      'a 404 is not a complete problem',
      [REFUSED],
      saying(answer(404, '{"status":404}', { 'Content-Type': 'application/problem+json' })),
    ],
    ['an answer is cut off', [GET], saying(answer(200, '{}', { 'Content-Length': '3' }))],
    [
      'an answer does not begin with a status line',
      [GET, GET],
      saying(answer(200, '{}', { 'Content-Length': '1' }) + answer(200, '{}')),
    ],
    ['an answer 200 has the Content-Length undefined', [GET], saying('HTTP/1.1 200 OK\r\n\r\n{}')],
    ['an answer 204 has a Content-Length', [REFUSED], saying('HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n')],
    ['an answer has two headers ETag', [GET], saying(answer(200, '{}', { ETag: '"a"\r\nETag: "b"' }))],
    ['an answer has a malformed header', [GET], saying(answer(200, '{}', { Location: 'a\u0001b' }))],
    ['an answer says gzip and is not', [GET], saying(answer(200, '{}', { 'Content-Encoding': 'gzip' }))],
    ['the server closed the connection before it answered', [GET, ANY], saying(answer(200, '{}'))],
    ['there are more answers than requests', [GET], saying(answer(200, '{}') + answer(200, '{}'))],
    [
      'more follows an answer with Connection: close',
      [GET, ANY, GET],
      saying(answer(200, '{}') + answer(200, '{}', { Connection: 'close' }) + answer(200, '{}')),
    ],
    [
      'the connection was closed after an ordinary request',
      [GET, GET],
      saying(answer(200, '{}', { Connection: 'close' })),
    ],
    ['the server reset an ordinary connection', [GET], (socket) => socket.resetAndDestroy()],
    ['a request was not answered', [GET], () => {}],
    ['the server did not close the connection', [GET], (socket) => socket.write(answer(200, '{}'))],
    ['somebody wrote without a token', [REFUSED], saying(answer(201, '{}'))],
    ['somebody read a private collection without a token', [GET], saying(answer(200, `{"text":"${SECRET}"}`))],
    [
      `a page of ${EVENTS} has the item_count undefined`,
      [{ ...GET, shows: EVENTS }],
      saying(answer(200, `{"_embedded":{"${EVENTS}":[]}}`)),
    ],
  ]
  for (const [flaw, messages, serve] of wrong)
    it(`finds that ${flaw}`, async (t) => {
      const flaws = await verdictOn(t, messages, serve)
      assert.ok(flaws.includes(flaw), flaws.join('; '))
    })

  it('lets those write and read who have a token', async (t) => {
    const bytes = Buffer.from(`GET / HTTP/1.1\r\nAuthorization: Bearer ${TOKENS.writer.token}\r\n\r\n`)
    assert.deepEqual(await verdictOn(t, [{ bytes, kind: 'ordinary' }], saying(answer(201, `{"text":"${SECRET}"}`))), [])
  })
})

describe('the ledger', () => {
  const ledger = new Ledger()
  ledger.note(['a', 'b'], 201)
  ledger.note(['c', 'd'], undefined)
  ledger.note(['e'], 400)

  it('takes a log that has what was acknowledged once, and all or nothing of what nobody knows', () => {
    assert.deepEqual(ledger.check(['a', 'b', 'somebody else']), [])
    assert.deepEqual(ledger.check(['a', 'b', 'c', 'd']), [])
    assert.equal(ledger.acknowledged, 2)
  })

  it('finds what is lost, there twice, there in part, and there although it was refused', () => {
    assert.deepEqual(ledger.check(['a', 'b', 'c']), ['the append of c and 1 more is only partly there'])
    assert.deepEqual(ledger.check(['c', 'd']), ['the append of a and 1 more was acknowledged and is not there'])
    assert.deepEqual(ledger.check(['a', 'b', 'b']), ['the append of a and 1 more is there twice'])
    assert.deepEqual(ledger.check(['a', 'b', 'e']), ['the append of e and 0 more was refused and is there'])
  })
})
