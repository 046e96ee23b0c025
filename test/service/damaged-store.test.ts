import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { createService } from '../../src/service/create-service.ts'
import { openSqliteForTest } from '../store/sqlite-engine.ts'
import { changeRows } from '../store/sqlite-rows.ts'
import { BASE, fill, numbered, tokenFor } from './open-service.ts'

/** A public and a private collection, of 540 items each: a ream and a tail, and somebody who may read and write both. */
async function openDamaged(t: TestContext, sql: string) {
  const { store, path, remove } = await openSqliteForTest()
  t.after(remove)
  await fill(store, 'events', numbered(540))
  await fill(store, 'secret', numbered(540), { isPrivate: true })
  const authorized = await tokenFor(store, ['read:*', 'write:*'])
  changeRows(path, sql)
  const errors: string[] = []
  const { fetch } = createService({ store, onError: (error) => errors.push(String(error)) })
  const ask = async (target: string, init: RequestInit = {}) => {
    const response = await fetch(new Request(BASE + target, init))
    const text = await response.text()
    assert.ok(!text.includes(dirname(path)), 'the path of the store is nobody’s business')
    return { status: response.status, retryAfter: response.headers.get('retry-after'), text }
  }
  /** The status, and what a problem says. */
  const told = async (target: string, init?: RequestInit) => {
    const { status, text } = await ask(target, init)
    return `${status} ${status < 400 ? '' : JSON.parse(text).detail}`.trim()
  }
  return { ask, told, errors, authorized }
}

const DAMAGED_ITEMS = `UPDATE tail SET item = '{"id":0}' WHERE position = 530; UPDATE ream SET crc = crc + 1`

describe('a service on a store that is damaged', () => {
  it('answers 503 with the name of the collection, and nobody is told to come again', async (t) => {
    const { ask, errors } = await openDamaged(t, DAMAGED_ITEMS)
    for (const encoding of ['identity', 'gzip'])
      for (const target of ['/events', '/events?page=2', '/events/3', '/events/531']) {
        const { status, retryAfter, text } = await ask(target, { headers: { 'Accept-Encoding': encoding } })
        assert.deepEqual([status, retryAfter], [503, null])
        const { type, detail } = JSON.parse(text)
        assert.equal(type, `${BASE}/-/problems/store-unavailable`)
        assert.equal(detail, 'The collection "events" is damaged.')
      }
    assert.match(errors.join(), /Ream 0 does not match its checksum.*The item at position 530/s)
  })

  it('names a private collection to those alone who may read it', async (t) => {
    const { told, authorized } = await openDamaged(t, DAMAGED_ITEMS)
    for (const target of ['/secret', '/secret?page=2', '/secret/3', '/secret/nothing']) {
      assert.equal(await told(target), (await told(target.replace('secret', 'nobody'))).replace('nobody', 'secret'))
      assert.match(await told(target), /^404 /)
    }
    assert.equal(await told('/secret', { headers: authorized }), '503 The collection "secret" is damaged.')
  })

  it('names nobody where a head is damaged, neither at its name nor at one beside it', async (t) => {
    const { told } = await openDamaged(t, "UPDATE head SET private = 0 WHERE name = 'secret'")
    for (const target of ['/secret', '/secret/3', '/secre', '/secrets', '/'])
      assert.equal(await told(target), '503 The store is damaged.', target)
  })

  it('does not call a token bad whose row is damaged', async (t) => {
    const { told, authorized } = await openDamaged(t, `UPDATE token SET scopes = '["admin"]'`)
    assert.equal(await told('/events', { headers: authorized }), '503 The store is damaged.')
    assert.equal(await told('/events'), '200')
  })
})
