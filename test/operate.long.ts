import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { buildExecutable } from '../scripts/build-executable.ts'
import { eventLines } from './cli/items.ts'
import { workDirectory } from './cli/run-cli.ts'
import { lackOf, type Need, NGINX, PROMETHEUS } from './faults/needs.ts'
import { shownConfigurations } from './nginx.ts'
import { runShellPage } from './shell-page.ts'
import { bootMachine, PATH, SYSTEMD_MACHINE } from './systemd-machine.ts'
import { waitUntil } from './wait-until.ts'

const ROOT = join(import.meta.dirname, '..')

/** Reads until nobody holds its input open, and tells what it saw. */
const CLIENT = `
let isOver = false
process.stdin.resume().once('end', () => { isOver = true })
const failures = []
let asked = 0
for (; !isOver; asked++) {
  const status = await fetch('http://api.example.com/events').then(
    async (answer) => (await answer.text(), answer.status),
    (error) => String(error.cause ?? error),
  )
  if (status !== 200) failures.push(status)
  await new Promise((resolve) => setTimeout(resolve, 5))
}
console.log(JSON.stringify({ asked, failures }))`

const PROMETHEUS_UNIT: Need = async () =>
  existsSync('/lib/systemd/system/prometheus.service') ? undefined : 'systemd does not know Prometheus here'

describe('the page about running a service', () => {
  it('shows commands that work, in their order, with a real systemd, and an upgrade that no client notices', async (t) => {
    const lack = await lackOf([SYSTEMD_MACHINE])
    if (lack !== undefined) return t.skip(lack)
    const missing = await lackOf([NGINX, PROMETHEUS, PROMETHEUS_UNIT])
    if (missing !== undefined) return t.skip(missing)
    const directory = workDirectory(t)
    // The files that the page tells you to copy to the server.
    const program = basename(await buildExecutable(directory))
    cpSync(join(ROOT, 'packaging'), join(directory, 'packaging'), { recursive: true })
    await using machine = await bootMachine(directory, ROOT)
    const { run } = machine
    const put = (path: string, text: string) => {
      writeFileSync(join(directory, 'put'), text)
      run(`mkdir -p "$(dirname ${path})"; cp ${directory}/put ${path}; chmod 644 ${path}`)
    }
    const page = readFileSync(join(ROOT, 'docs/how-to/operate.md'), 'utf8')
    put('/srv/exports/events.ndjson', eventLines(1234))
    for (const [, path = '', shown = ''] of page.matchAll(/`(\/etc\/[\w./-]+)`:\n\n```\w+\n([\s\S]*?)```/g))
      put(path, shown)
    const [, proxy = ''] = shownConfigurations()
    const [, header = ''] = /add `(proxy_set_header .*?;)`/.exec(page) ?? []
    put('/etc/nginx/conf.d/reams.conf', proxy.replace('proxy_pass', `${header}\n    proxy_pass`))
    run('echo 127.0.0.1 api.example.com >> /etc/hosts; rm -f /etc/nginx/sites-enabled/*')

    const [before = '', upgrade = ''] = page.split('\n## Upgrade\n')
    const shell = {
      directory,
      variables: { PATH },
      under: [...machine.under, 'env', '-C', directory],
      adapt: (text: string) => text.replaceAll(/reams-\S+-linux-x64/g, program),
    }
    await runShellPage(t, { markdown: before, ...shell })
    const query = () => run(`curl -sS 'http://127.0.0.1:9090/api/v1/query?query=reams_collection_items'`)
    // Both instances tell Prometheus of all items.
    await waitUntil(() => query().split('"1234"').length === 3)

    const [node = '', ...words] = [...machine.under, '/clone/node_modules/.bin/node', '-e', CLIENT]
    const client = spawn(node, words, { stdio: ['pipe', 'pipe', 'inherit'] })
    const told = text(client.stdout)
    await once(client, 'spawn')
    await runShellPage(t, { markdown: upgrade, ...shell })
    client.stdin.end()
    const { asked, failures } = JSON.parse(await told)
    assert.deepEqual(failures, [])
    assert.ok(asked > 0)
    const restarts = run(`journalctl -u 'reams@*' -o cat | grep -c 'Ctrl-C stops it'`)
    assert.equal(restarts.trim(), '4')
  })
})
