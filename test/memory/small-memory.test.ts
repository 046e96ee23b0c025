import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { workDirectory } from '../cli/run-cli.ts'
import { ReamsProcess } from '../faults/reams-process.ts'
import { tokenFor } from '../service/open-service.ts'
import { askRaw } from '../service/raw-http.ts'
import { MemoryGroup } from './memory-group.ts'

it('servers in a control group with 512 MB accept smaller bodies, and give freed memory back', async (t) => {
  const group = MemoryGroup.create(512 * 2 ** 20)
  if (typeof group === 'string') return t.skip(group)
  await using _group = group
  const path = join(workDirectory(t), 'reams.db')
  const store = await openSqliteStore({ path, create: true })
  await store.create('events', { keyField: 'id' })
  const { Authorization } = await tokenFor(store, ['admin'])
  await store.close()
  const head = `PATCH /events HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${Authorization}\r\nConnection: close\r\n`
  const type = 'Content-Type: application/x-ndjson\r\nContent-Length: 67108864\r\n\r\n'
  // As bin/reams has it.
  const options = { wrapper: group.wrapper, variables: { MALLOC_MMAP_THRESHOLD_: '1048576' } }

  const refuse = async (words: readonly string[], limit: string) => {
    await using program = new ReamsProcess(['serve', '--store', path, '--port', '0', ...words], options)
    const { status, body } = await askRaw(Number(new URL(await program.address()).port), head + type)
    const { detail } = JSON.parse(body.toString())
    assert.equal(`${status} ${detail}`, `413 The body has 67,108,864 bytes; the limit is ${limit} (--body-bytes).`)
    const environment = readFileSync(`/proc/${program.pid}/environ`, 'utf8').split('\0')
    for (const variable of ['MALLOC_ARENA_MAX=1', 'MALLOC_MMAP_THRESHOLD_=65536'])
      assert.ok(environment.includes(variable), variable)
  }
  await Promise.all([
    refuse([], '13,631,488'),
    refuse(['--workers', '2'], '2,097,152'),
    refuse(['--body-bytes', '20000000'], '20,000,000'),
  ])
})
