import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { workDirectory } from '../cli/run-cli.ts'
import { lackOf, STRACE } from '../faults/needs.ts'

const sourceOf = (path: string) => JSON.stringify(new URL(`../../src/${path}`, import.meta.url).href)

it('a store in an SQLite file has every write on the disk before the write is acknowledged', async (t) => {
  const lack = await lackOf([STRACE])
  if (lack !== undefined) return t.skip(lack)
  const [path = '', trace = ''] = ['reams.db', 'trace'].map((name) => join(workDirectory(t), name))
  const script = `
    import { writeSync } from 'node:fs'
    const { openSqliteStore } = await import(${sourceOf('store/sqlite/open.ts')})
    const { itemRun } = await import(${sourceOf('items/item-run.ts')})
    const store = await openSqliteStore({ path: process.argv[1], create: true })
    await store.create('events')
    for (let n = 0; n < 5; n++) {
      await store.append('events', itemRun(['{}']))
      writeSync(1, 'acknowledged')
    }
    await store.close()`
  const calls = ['-f', '-y', '-e', 'trace=fsync,fdatasync,write', '-o', trace]
  execFileSync('strace', [...calls, process.execPath, '--input-type=module', '-e', script, path])
  const events = readFileSync(trace, 'utf8')
    .split('\n')
    .flatMap((line) => (/sync\(.*-wal>/.test(line) ? ['synced'] : /"acknowledged"/.test(line) ? ['acknowledged'] : []))
  const acknowledged = events.flatMap((event, index) => (event === 'acknowledged' ? [events[index - 1]] : []))
  assert.deepEqual(acknowledged, Array(5).fill('synced'))
})
