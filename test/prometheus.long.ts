import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventLines, putLines, withStore } from './cli/items.ts'
import { runInside, startServer, workDirectory } from './cli/run-cli.ts'
import { lackOf, PROMETHEUS } from './faults/needs.ts'
import { freePort } from './store/free-port.ts'
import { waitUntil } from './wait-until.ts'

const PACKAGING = join(import.meta.dirname, '..', 'packaging')
const TARGET = '127.0.0.1:9091'
const RULES = 'prometheus-rules.yml'

interface Dashboard {
  readonly panels: readonly {
    readonly title: string
    readonly targets?: readonly { readonly expr: string }[]
  }[]
}

interface Sample {
  readonly value: readonly [time: number, value: string]
}

type Ask = <T>(path: string, parameters?: Record<string, string>) => Promise<T>

/** A real Prometheus with the configuration of `packaging/`, which scrapes a server every second instead of four times a minute. */
async function startPrometheus(t: TestContext, directory: string, target: string): Promise<Ask> {
  const shown = readFileSync(join(PACKAGING, 'prometheus.yml'), 'utf8')
  assert.ok(shown.includes(TARGET))
  writeFileSync(join(directory, 'prometheus.yml'), shown.replace(TARGET, target).replaceAll(': 15s', ': 1s'))
  copyFileSync(join(PACKAGING, RULES), join(directory, RULES))
  const address = `127.0.0.1:${await freePort()}`
  const words = ['--config.file=prometheus.yml', '--storage.tsdb.path=tsdb', `--web.listen-address=${address}`]
  const prometheus = spawn('prometheus', words, { cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  prometheus.stderr.setEncoding('utf8').on('data', (text) => {
    said += text
  })
  t.after(async () => {
    if (prometheus.exitCode === null && prometheus.kill('SIGKILL')) await once(prometheus, 'exit')
  })
  const isReady = () =>
    fetch(`http://${address}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    )
  await waitUntil(async () => {
    assert.equal(prometheus.exitCode, null, said)
    return isReady()
  })
  return async (path, parameters = {}) => {
    const answer = await fetch(`http://${address}/api/v1/${path}?${new URLSearchParams(parameters)}`)
    const { status, data, error } = await answer.json()
    assert.equal(status, 'success', `${error} in ${parameters['query']}`)
    return data
  }
}

/** Reads, some of them wrong, and writes that come together, until the test ends. */
async function load(url: string, token: string, signal: AbortSignal): Promise<void> {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  const post = (id: number) => fetch(`${url}/events`, { method: 'POST', headers, body: `{"id":${id}}` })
  for (let round = 1; !signal.aborted; round++) {
    const reads = ['', '?page=2', '/3', '/none'].map((rest) => fetch(`${url}/events${rest}`))
    const writes = [1, 2, 3].map((each) => post(round * 10_000 + each))
    for (const response of await Promise.all([...reads, ...writes])) await response.arrayBuffer()
    await sleep(50)
  }
}

describe('the dashboard and the alerts', () => {
  it('have queries that a real Prometheus answers with figures of a real server', async (t) => {
    const lack = await lackOf([PROMETHEUS])
    if (lack !== undefined) return t.skip(lack)
    const directory = workDirectory(t)
    await putLines(directory, 'events', eventLines(1_234), { keyField: 'id' })
    const following = { source: 'events in a database', waiting: 0, asOf: Date.now(), seenAt: Date.now() }
    await withStore(directory, false, async (store) => {
      await store.noteFollowing('events', following)
      const mirroring = await store.load('mirrored', { isMirroring: true })
      await mirroring.commit({ url: 'https://origin.example/events', position: '' })
      await store.noteFollowing('mirrored', following)
    })
    const created = await runInside(['token', 'create', '--name', 'a', '--scope', 'write:events'], { in: directory })
    const words = ['--admin-port', '0', '--log-requests', 'none', '--workers', '2']
    const { cli, url } = await startServer(t, words, { in: directory })
    const [, target = ''] = /For operators: http:\/\/([^/]+)/.exec(cli.stdout) ?? []
    const ask = await startPrometheus(t, directory, target)
    const ending = new AbortController()
    const loading = load(url, created.stdout.trim(), ending.signal)
    t.after(() => ending.abort())

    const { panels }: Dashboard = JSON.parse(readFileSync(join(PACKAGING, 'grafana-dashboard.json'), 'utf8'))
    const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
    assert.ok(queries.length > 25, `${queries.length} queries`)
    const alerts = readFileSync(join(PACKAGING, RULES), 'utf8')
    const alerted = [...alerts.matchAll(/\b(?:http|reams|process|nodejs)_\w+/g)].map(([name]) => name)
    for (const query of [...queries, ...new Set(alerted)]) {
      const filled = query.replaceAll(/\$(job|instance)\b/g, '.*').replaceAll('$__rate_interval', '30s')
      assert.doesNotMatch(filled, /\$/)
      const hasFigures = async () => {
        const { result } = await ask<{ result: Sample[] }>('query', { query: filled })
        return result.some(({ value }) => Number.isFinite(Number(value[1])))
      }
      // A rate needs two scrapes.
      await waitUntil(hasFigures).catch(() => assert.fail(`no figures for ${query}`))
    }

    const rules = async () => {
      const { groups } = await ask<{ groups: { rules: { name: string; health: string }[] }[] }>('rules')
      return groups.flatMap((group) => group.rules)
    }
    await waitUntil(async () => (await rules()).every(({ health }) => health !== 'unknown'))
    assert.deepEqual(new Set((await rules()).map(({ health }) => health)), new Set(['ok']))
    ending.abort()
    await loading
  })
})
