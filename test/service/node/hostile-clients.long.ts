import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { openSqliteStore } from '../../../src/store/sqlite/open.ts'
import { ReamsProcess } from '../../faults/reams-process.ts'
import { fill, numbered } from '../open-service.ts'
import { OPENINGS, resetAfter } from './resets.ts'

const ROUNDS = 10_000
const AT_ONCE = 32

it(`${ROUNDS} connections that are reset after each kind of opening end no process`, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'reams-resets-'))
  t.after(() => rmSync(directory, { recursive: true }))
  const path = join(directory, 'reams.db')
  const store = await openSqliteStore({ path, create: true })
  await fill(store, 'events', numbered(600))
  await fill(store, 'big', numbered(5_000))
  await store.close()
  await using program = new ReamsProcess(['serve', '--store', path, '--port', '0'])
  const address = await program.address()
  const port = Number(new URL(address).port)
  for (const text of OPENINGS) {
    for (let round = 0; round < ROUNDS; round += AT_ONCE)
      await Promise.all(
        Array.from({ length: AT_ONCE }, (_, index) =>
          // At every byte in turn, and every other time behind the last one.
          resetAfter(port, text, index % 2 === 0 ? text.length : (round + index) % text.length, index % 5),
        ),
      )
    const response = await fetch(`${address}/events`)
    assert.equal(JSON.parse(await response.text()).item_count, 600)
  }
})
