import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { PartFile } from '../../src/cli/files/part-file.ts'
import { TemporaryDirectory } from '../../src/cli/temporary-directory.ts'

it('a gzip file keeps the order of writes when a small block compresses faster than the large one before it', async () => {
  using directory = new TemporaryDirectory()
  const target = join(directory.path, 'items.ndjson.gz')
  const file = await PartFile.open({ target, path: `${target}.part`, isPacked: true })
  // Slow to compress.
  const large = randomBytes(4 * 1024 * 1024)
  const expected = Buffer.concat([large, Buffer.from('{"id":2}\n')])
  await file.write(large)
  await file.write(Buffer.from('{"id":2}\n'))
  await file.complete()
  assert.ok(gunzipSync(readFileSync(target)).equals(expected))
})
