import assert from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { eventLines, putLines, storedLines } from './items.ts'
import { addToken, push, TOKEN } from './push-servers.ts'
import { runInside, startServer, temporaryFilesOf, workDirectory } from './run-cli.ts'
import { serveInside } from './serve-inside.ts'

/** How many of so many requests at once were answered with each status, each on a connection of its own. */
async function statusesOf(url: string, init: RequestInit = {}, count = 20): Promise<Record<number, number>> {
  const ask = () => fetch(url, { ...init, headers: { Connection: 'close', ...init.headers } })
  const answers = await Promise.all(Array.from({ length: count }, ask))
  await Promise.all(answers.map((answer) => answer.arrayBuffer()))
  const byStatus = Object.groupBy(answers, ({ status }) => status)
  return Object.fromEntries(Object.entries(byStatus).map(([status, list = []]) => [status, list.length]))
}

function statusOver(agent: Agent, url: string): Promise<number | undefined> {
  const headers = { 'X-Forwarded-For': `198.51.100.${agent.maxSockets}` }
  return new Promise((resolve, reject) => {
    get(url, { agent, headers }, (answer) => answer.resume().once('end', () => resolve(answer.statusCode))).on(
      'error',
      reject,
    )
  })
}

describe('serve with limits', () => {
  it('counts reads and writes apart, and the clients behind a trusted proxy', async (t) => {
    const directory = workDirectory(t)
    await putLines(directory, 'events', eventLines(1))
    const words = ['--rate-limit', '7/h', '--trust-proxy', '127.0.0.1,::1', '--cors-origin', 'https://a.example']
    const { cli, url } = await startServer(t, words, { in: directory })
    assert.deepEqual(await statusesOf(`${url}/events`), { 200: 7, 429: 13 })
    const other = { headers: { 'X-Forwarded-For': '198.51.100.1' } }
    assert.deepEqual(await statusesOf(`${url}/events`, other), { 200: 7, 429: 13 })
    const { status, headers } = await fetch(`${url}/events`, { headers: { Origin: 'https://a.example' } })
    assert.equal(`${status} ${headers.get('access-control-allow-origin')}`, '429 https://a.example')
    assert.match(headers.get('ratelimit') ?? '', /^"reads";r=0;t=\d+$/)
    // Without a setting of their own, writes have the same limit, counted apart.
    const written = await fetch(`${url}/events`, { method: 'POST' })
    assert.equal(`${written.status} ${written.headers.get('ratelimit-policy')}`, '401 "writes";q=7;w=3600')
    assert.equal((await cli.stop()).status, 0)
  })

  it('counts together what several processes are asked, of which each may take a part of a large limit', async (t) => {
    const directory = workDirectory(t)
    writeFileSync(join(directory, 'events.ndjson'), eventLines(1))
    const limits = ['--rate-limit', '100/h', '--write-rate-limit', '7/h', '--trust-proxy', '127.0.0.1']
    const { cli, url } = await startServer(t, ['events.ndjson', '--workers', '2', ...limits], { in: directory })
    assert.deepEqual(await statusesOf(`${url}/events`, { method: 'POST' }), { 401: 7, 429: 13 })
    for (const connections of [1, 8]) {
      // The worker that gets this one takes a part of the limit, which nobody may ask it for afterwards.
      const headers = { Connection: 'close', 'X-Forwarded-For': `198.51.100.${connections}` }
      assert.equal((await fetch(url, { headers })).status, 200)
      const agent = new Agent({ keepAlive: true, maxSockets: connections })
      t.after(() => agent.destroy())
      const statuses = await Promise.all(Array.from({ length: 150 }, () => statusOver(agent, url)))
      const through = 1 + statuses.filter((status) => status === 200).length
      assert.ok(through >= 90 && through <= 100, `${through} on ${connections} connections`)
    }
    // Workers serve files too, and leave nothing of them behind.
    assert.equal((await cli.stop('SIGINT')).status, 0)
    assert.deepEqual(readdirSync(temporaryFilesOf(directory)), [])
  })

  it('lets pull and push finish, which wait as they are told', async (t) => {
    const directory = workDirectory(t)
    const [there, more] = [eventLines(1_600), eventLines(6, 1_601)]
    await putLines(directory, 'events', there)
    const perSecond = (requests: number) => ({ requests, seconds: 1 })
    const { store, url } = await serveInside(t, directory, {
      rateLimits: { reads: perSecond(3), writes: perSecond(2) },
    })
    await addToken(store, TOKEN, ['write:events'])
    const pulled = await runInside(['pull', `${url}/events`], { in: directory })
    assert.equal(pulled.status, 0, pulled.stderr)
    assert.equal(pulled.stdout, there)
    writeFileSync(join(directory, 'more.ndjson'), more)
    const pushed = await push(directory, `${url}/events`, 'more.ndjson', '--batch', '2')
    assert.equal(pushed.status, 0, pushed.stderr)
    assert.equal(await storedLines(directory, 'events'), there + more)
  })
})
