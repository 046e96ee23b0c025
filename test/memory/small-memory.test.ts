import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { workDirectory } from '../cli/run-cli.ts'
import { ReamsProcess } from '../faults/reams-process.ts'
import { tokenFor } from '../service/open-service.ts'
import { askRaw } from '../service/raw-http.ts'
import { MemoryGroup } from './memory-group.ts'

/** The problem that a PATCH of 64 MiB gets from a server with 512 MB of memory, and the environment of that server. */
async function refusedWith(t: TestContext, group: MemoryGroup, words: readonly string[]) {
  const path = join(workDirectory(t), 'reams.db')
  const store = await openSqliteStore({ path, create: true })
  await store.create('events', { keyField: 'id' })
  const { Authorization } = await tokenFor(store, ['admin'])
  await store.close()
  // As bin/reams has it.
  const variables = { MALLOC_MMAP_THRESHOLD_: '1048576' }
  const { wrapper } = group
  await using program = new ReamsProcess(['serve', '--store', path, '--port', '0', ...words], { wrapper, variables })
  const port = Number(new URL(await program.address()).port)
  const head = `PATCH /events HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${Authorization}\r\nConnection: close\r\n`
  const type = 'Content-Type: application/x-ndjson\r\nContent-Length: 67108864\r\n\r\n'
  const { status, body } = await askRaw(port, head + type)
  const environment = readFileSync(`/proc/${program.pid}/environ`, 'utf8').split('\0')
  return { problem: `${status} ${JSON.parse(body.toString()).detail}`, environment }
}

describe('a server in a control group with 512 MB of memory', () => {
  for (const [title, words, limit] of [
    ['accepts smaller bodies', [], '13,631,488'],
    ['accepts even smaller ones with two workers', ['--workers', '2'], '2,097,152'],
    ['accepts what a setting says', ['--body-bytes', '20000000'], '20,000,000'],
  ] as const)
    it(`${title}, and gives freed memory back`, async (t) => {
      const group = MemoryGroup.create(512 * 2 ** 20)
      if (typeof group === 'string') return t.skip(group)
      await using _group = group
      const { problem, environment } = await refusedWith(t, group, words)
      assert.equal(problem, `413 The body has 67,108,864 bytes; the limit is ${limit} (--body-bytes).`)
      for (const variable of ['MALLOC_ARENA_MAX=1', 'MALLOC_MMAP_THRESHOLD_=65536'])
        assert.ok(environment.includes(variable), variable)
    })
})
