import assert from 'node:assert/strict'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { NOTHING_YET, PullPart, partPath, readNote } from '../../src/cli/commands/pull/part.ts'
import { TemporaryDirectory } from '../../src/cli/temporary-directory.ts'
import { readPage } from '../../src/client/page.ts'

const NO_PROC = process.platform === 'linux' ? false : 'needs the /proc of Linux'
const URL_OF_ITEMS = 'http://localhost/items'

it('the note of a pull does not count items whose sync to the disk failed', { skip: NO_PROC }, async () => {
  using directory = new TemporaryDirectory()
  const path = join(directory.path, 'items.ndjson')
  // It accepts writes, which only rename this process, and sync fails with EINVAL.
  symlinkSync('/proc/self/comm', partPath(path))
  const stateAfter = (items: number) => ({ items, itemCount: 9, anchor: { page: 1, digest: '', itemCount: 9 } })
  const subject = { url: URL_OF_ITEMS, format: 'ndjson', columns: undefined, isPacked: false } as const
  const part = await PullPart.open(path, { ...subject, ...NOTHING_YET, walk: stateAfter(1) }, () => {})
  const body = Buffer.from('{"_links":{},"_embedded":{"items":[{"id":1},{"id":2}]}}')
  const fetched = { url: URL_OF_ITEMS, headers: new Headers(), body, isUnchanged: false }
  const page = readPage(fetched, { page: 1, allows: () => true }, { collection: 'items' })
  await part.page(page, { page, first: 1, state: stateAfter(2), drift: { appended: 0, replaced: false } })
  await part.stop()
  assert.equal((await readNote(path))?.walk?.items, 1)
})
