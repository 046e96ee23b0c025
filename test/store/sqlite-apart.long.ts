/** A store in an SQLite file that processes use who see little of each other: in containers, and of other users. */

import assert from 'node:assert/strict'
import { chmodSync, linkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it, type TestContext } from 'node:test'
import { BUSY_TIMEOUT_MS } from '../../src/store/sqlite/file/store-file.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'
import { putLines } from '../cli/items.ts'
import { RunningCli, runCli, startServer, workDirectory } from '../cli/run-cli.ts'
import { lackOf, PID_NAMESPACES } from '../faults/needs.ts'
import { lackOfOtherUser, withoutRights } from '../other-user.ts'
import { waitUntil } from '../wait-until.ts'
import { item, itemsFrom } from './items.ts'
import { readItems } from './store-reading.ts'

const WITH_OWN_PROCESSES = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc']

/** With three items. */
async function makeFile(t: TestContext) {
  const directory = workDirectory(t)
  await putLines(directory, 'events', itemsFrom(0, 3).join('\n'), { keyField: 'id' })
  return { directory, path: join(directory, 'reams.db') }
}

async function open(t: TestContext, path: string): Promise<Store> {
  const store = await openSqliteStore({ path })
  t.after(() => store.close())
  return store
}

it("a store under another name is refused when the process is another user's", async (t) => {
  if (process.getuid?.() !== 0) return t.skip('it needs root')
  const lack = lackOfOtherUser()
  if (lack !== undefined) return t.skip(lack)
  const { directory, path } = await makeFile(t)
  const link = join(directory, 'link.db')
  linkSync(path, link)
  chmodSync(path, 0o666)
  chmodSync(directory, 0o777)
  await open(t, path)
  const runOn = (name: string) => runCli(['collections', '--store', name], { in: directory, ...withoutRights() })
  assert.match(
    (await runOn(link)).stderr,
    new RegExp(`^reams: The store ${link} is a file that a process has open under another name, `),
  )
  assert.equal((await runOn(path)).status, 0)
})

describe('a store that is mounted as a single file into containers', () => {
  const IN_CONTAINER = ['unshare', '--pid', '--mount', '--fork', '--kill-child', '--mount-proc']

  it('is refused to a second one, which cannot see the first', async (t) => {
    const lack = await lackOf([PID_NAMESPACES])
    if (lack !== undefined) return t.skip(lack)
    const { directory, path } = await makeFile(t)
    const mounted = join(directory, 'mounted.db')
    writeFileSync(mounted, '')
    const mount = [...IN_CONTAINER, 'sh', '-c', 'mount --bind "$0" "$1" && shift && exec "$@"', path, mounted]
    await startServer(t, ['--store', mounted], { in: directory, under: mount })
    const refused = await runCli(['collections', '--store', path], { in: directory, under: IN_CONTAINER })
    assert.match(refused.stderr, /reams\.db is a file that a process has open under another name/)
    assert.equal(refused.status, 3)
  })
})

describe('an import beside another container of the same host name', () => {
  for (const [who, holder, writer] of [
    ['outside', [], WITH_OWN_PROCESSES],
    ['in it', WITH_OWN_PROCESSES, []],
  ] as const)
    it(`goes on when the other one wants to write too (the import runs ${who})`, async (t) => {
      const lack = await lackOf([PID_NAMESPACES])
      if (lack !== undefined) return t.skip(lack)
      const { path, directory } = await makeFile(t)
      const store = await open(t, path)
      const words = ['import', 'events', '-', '--format', 'ndjson', '--store', path]
      const importing = new RunningCli(words, { in: directory, under: holder })
      t.after(() => importing.child.kill('SIGKILL'))
      await importing.writes(`${item(3)}\n`)
      using database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS })
      await waitUntil(() => database.prepare('SELECT 1 FROM lease').get() !== undefined)
      const refused = await runCli(words, { in: directory, under: writer, input: `${item(10)}\n` })
      assert.match(
        refused.stderr,
        /^reams: An import or a copy of "\S+" has been running since .* \(process \d+ on \S+\)\. /,
      )
      assert.equal(refused.status, 3)
      importing.child.stdin?.end(`${item(4)}\n`)
      assert.equal((await importing.ends()).status, 0, importing.stderr)
      assert.deepEqual(await readItems(store, 'events'), itemsFrom(0, 5))
    })
})
