import assert from 'node:assert/strict'
import { it } from 'node:test'
import { openCollection } from '../../src/client/index.ts'
import { WalkedPages } from '../../src/mirror/walked-pages.ts'
import { CorrectServer, inProcess } from '../check/correct-server.ts'

it('a change on any page is noticed, even if no other page has a new ETag', async () => {
  const server = new CorrectServer({ items: 2001 })
  const url = 'http://events.example/events'
  const live = openCollection(url, { fetch: inProcess(server, new URL(url).origin) })
  const pages = new WalkedPages(live, new AbortController().signal)
  for (const page of [1, 2, 3, 4, 5]) {
    await Array.fromAsync(pages.walk())
    server.items = server.items.with((page - 1) * 500, { id: 'changed' })
    assert.equal(await pages.hasChanged(), true, `page ${page}`)
  }
  await Array.fromAsync(pages.walk())
  assert.equal(await pages.hasChanged(), false)
})
