import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import { it } from 'node:test'
import { withoutQuotes } from '../../src/tables/postgres-session.ts'

it('a row with line breaks is one line, however it is cut into chunks', async () => {
  const copied = '{"n":1}\n\x01{"json":{\n"a":\r\n1}}\x01\n{"n":2}\n'
  const lines = '{"n":1}\n{"json":{ "a":  1}}\n{"n":2}\n'
  async function* cut(size: number) {
    for (let from = 0; from < copied.length; from += size) yield Buffer.from(copied.slice(from, from + size))
  }
  for (let size = 1; size <= copied.length; size++) assert.equal(await text(withoutQuotes(cut(size))), lines)
})
