import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Listening } from '../../../src/service/node/listen.ts'
import { listenFor, openSocket, readToEnd } from '../raw-http.ts'

async function becomes({ load }: Listening, expected: readonly [number, number, number]): Promise<void> {
  const counts = () => {
    const { connections, runningRequests, waitingRequests } = load()
    return [connections, runningRequests, waitingRequests]
  }
  while (counts().join() !== expected.join()) await sleep(10)
  assert.deepEqual(counts(), expected)
}

describe('the load of a server', () => {
  it('is its connections, the requests that run, and those that wait behind them', async (t) => {
    const held = Promise.withResolvers<void>()
    const reply = async () => {
      await held.promise
      return { status: 204, headers: {}, body: null }
    }
    const listening = await listenFor(t, { reply })
    await becomes(listening, [0, 0, 0])
    const idle = await openSocket(listening.port)
    const pipelined = await openSocket(listening.port)
    pipelined.end('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(3))
    await becomes(listening, [2, 1, 2])
    held.resolve()
    await readToEnd(pipelined)
    await becomes(listening, [1, 0, 0])
    idle.destroy()
    await becomes(listening, [0, 0, 0])
  })
})
