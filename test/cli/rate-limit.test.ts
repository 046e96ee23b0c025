import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { eventLines, putLines, storedLines, withStore } from './items.ts'
import { addToken, push, TOKEN } from './push-servers.ts'
import { runInside, startServer, workDirectory } from './run-cli.ts'

/** How many of 20 requests at once were answered with each status, each on a connection of its own. */
async function statusesOf(url: string, headers: Record<string, string> = {}): Promise<Record<number, number>> {
  const ask = () => fetch(url, { headers: { Connection: 'close', ...headers } })
  const answers = await Promise.all(Array.from({ length: 20 }, ask))
  await Promise.all(answers.map((answer) => answer.arrayBuffer()))
  const byStatus = Object.groupBy(answers, ({ status }) => status)
  return Object.fromEntries(Object.entries(byStatus).map(([status, list = []]) => [status, list.length]))
}

function statusOver(agent: Agent, url: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (answer) => answer.resume().once('end', () => resolve(answer.statusCode))).on('error', reject)
  })
}

describe('serve with limits', () => {
  for (const workers of ['1', '2'])
    it(`counts together what ${workers} of its processes are asked`, async (t) => {
      const directory = workDirectory(t)
      await putLines(directory, 'events', eventLines(1))
      const words = ['--rate-limit', '7/h', '--trust-proxy', '127.0.0.1,::1', '--cors-origin', 'https://a.example']
      const { cli, url } = await startServer(t, ['--workers', workers, ...words], { in: directory })
      assert.deepEqual(await statusesOf(`${url}/events`), { 200: 7, 429: 13 })
      for (const address of ['198.51.100.1', '198.51.100.2'])
        assert.deepEqual(await statusesOf(`${url}/events`, { 'X-Forwarded-For': address }), { 200: 7, 429: 13 })
      assert.deepEqual(await statusesOf(`${url}/-/health`), { 200: 20 })
      const { status, headers } = await fetch(`${url}/events`, { headers: { Origin: 'https://a.example' } })
      assert.equal(`${status} ${headers.get('access-control-allow-origin')}`, '429 https://a.example')
      assert.match(headers.get('ratelimit') ?? '', /^"reads";r=0;t=\d+$/)
      // Without a setting of their own, writes have the same limit, counted apart.
      const written = await fetch(`${url}/events`, { method: 'POST' })
      assert.equal(`${written.status} ${written.headers.get('ratelimit-policy')}`, '401 "writes";q=7;w=3600')
      assert.equal((await cli.stop()).status, 0)
    })

  for (const connections of [1, 8])
    it(`lets through all of a limit and no more, on ${connections} connections to workers that take several at a time`, async (t) => {
      const directory = workDirectory(t)
      await putLines(directory, 'events', eventLines(1))
      const { url } = await startServer(t, ['--workers', '2', '--rate-limit', '100/h'], { in: directory })
      // The worker that gets this one takes a part of the limit, which nobody may ask it for afterwards.
      assert.equal((await fetch(url, { headers: { Connection: 'close' } })).status, 200)
      const agent = new Agent({ keepAlive: true, maxSockets: connections })
      t.after(() => agent.destroy())
      const statuses = await Promise.all(Array.from({ length: 150 }, () => statusOver(agent, url)))
      const through = 1 + statuses.filter((status) => status === 200).length
      assert.ok(through >= 90 && through <= 100, `${through}`)
    })

  it('lets pull and push finish, which wait as they are told', async (t) => {
    const directory = workDirectory(t)
    const [there, more] = [eventLines(3_300), eventLines(8, 3_301)]
    await putLines(directory, 'events', there)
    await withStore(directory, false, (store) => addToken(store, TOKEN, ['write:events']))
    const limits = ['--rate-limit', '3/s', '--write-rate-limit', '2/s']
    const { cli, url } = await startServer(t, limits, { in: directory })
    const pulled = await runInside(['pull', `${url}/events`], { in: directory })
    assert.equal(pulled.status, 0, pulled.stderr)
    assert.equal(pulled.stdout, there)
    writeFileSync(join(directory, 'more.ndjson'), more)
    const pushed = await push(directory, `${url}/events`, 'more.ndjson', '--batch', '2')
    assert.equal(pushed.status, 0, pushed.stderr)
    assert.equal((await cli.stop()).status, 0)
    assert.equal(await storedLines(directory, 'events'), there + more)
  })
})
