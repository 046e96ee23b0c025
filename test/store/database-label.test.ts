import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { readDatabaseLabel } from '../../src/store/postgres/server/database-label.ts'

describe('how a store in PostgreSQL is called', () => {
  it('is its URL, without the password wherever it stands', () => {
    for (const [url, label, hasPassword] of [
      ['postgres://me@host/db', 'postgres://me@host/db', false],
      ['postgresql://me:secret@host:5432/db?schema=x', 'postgresql://me@host:5432/db?schema=x', true],
      ['postgres://me:se:cr:et@[::1]:5432/db', 'postgres://me@[::1]:5432/db', true],
      ['postgres://:secret@host/db', 'postgres://@host/db', true],
      ['postgres://me@host/db?password=secret&sslmode=require', 'postgres://me@host/db?sslmode=require', true],
      ['postgres:///db?host=/var/run/postgresql', 'postgres:///db?host=/var/run/postgresql', false],
      ['POSTGRES://me:secret@host', 'POSTGRES://me@host', true],
    ] as const)
      assert.deepEqual(readDatabaseLabel(url), { label, hasPassword })
  })

  it('tells nothing about a URL in which the password cannot be told from the rest', () => {
    for (const url of [
      'postgres://me:1/secret@host/db',
      'postgres://me:1?secret@host/db',
      'postgres://me:1#secret@h/db',
      'postgres://me:secret/db',
    ])
      assert.equal(readDatabaseLabel(url).label, 'postgres://…')
  })

  it('never holds the password, whatever that is', () => {
    const secret = fc.string({ minLength: 3 }).map((text) => `#1/${text}!`)
    fc.assert(
      fc.property(secret, fc.boolean(), (text, isEncoded) => {
        const { label } = readDatabaseLabel(`postgres://me:${isEncoded ? encodeURIComponent(text) : text}@host/db`)
        assert.ok(!label.includes(text) && !label.includes(encodeURIComponent(text)))
      }),
    )
  })
})
