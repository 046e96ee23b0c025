/** The part of the specification about tokens. */

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { describe, it } from 'node:test'
import type { TokenRecord } from '../../src/store/store.ts'
import { isError } from './items.ts'
import type { Subject } from './subject.ts'

export function describeTokens({ store, elsewhere }: Subject): void {
  describe('tokens', () => {
    let tokens = 0
    const newToken = (more: Partial<TokenRecord> = {}): TokenRecord => ({
      name: `token-${++tokens}`,
      hash: hash('sha256', `secret ${tokens}`),
      scopes: ['write:events', 'read:*'],
      createdAt: 1_700_000_000_000,
      expiresAt: 1_800_000_000_000,
      revokedAt: null,
      ...more,
    })
    const stored = async (name: string) => (await store.tokens()).find((each) => each.name === name)

    it('are found by their hash, at once and in other processes, and listed by name', async () => {
      const added = [
        newToken(),
        newToken({ name: 'zeta', expiresAt: null, scopes: ['admin'] }),
        newToken({ name: 'alpha', revokedAt: 1_700_000_000_001 }),
        newToken({ name: 'Beta', expiresAt: 2, scopes: [] }),
        newToken({ scopes: ['odd "one"', 'ä,é'] }),
      ]
      await elsewhere(async (again) => {
        for (const token of added) {
          await store.addToken(token)
          assert.deepEqual(await store.token(token.hash), token)
          assert.deepEqual(await again.token(token.hash), token)
        }
      })
      assert.deepEqual(
        await store.tokens(),
        added.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      )
      for (const hash of ['', 'f'.repeat(64), newToken().hash]) assert.equal(await store.token(hash), undefined)
    })

    it('cannot have a name that is taken, even by a revoked one', async () => {
      const token = newToken()
      await store.addToken(token)
      const again = () => store.addToken(newToken({ name: token.name, scopes: ['admin'] }))
      await assert.rejects(again(), isError('token-exists'))
      await store.revokeToken(token.name, 7)
      await assert.rejects(again(), isError('token-exists'))
      assert.deepEqual(await stored(token.name), { ...token, revokedAt: 7 })
    })

    it('by many at once under one name: one is added', async () => {
      const added = Array.from({ length: 40 }, () => newToken({ name: 'wanted' }))
      const outcomes = await elsewhere((again) =>
        Promise.allSettled(added.map((token, turn) => (turn % 2 === 0 ? store : again).addToken(token))),
      )
      const winners = added.filter((_, index) => outcomes[index]?.status === 'fulfilled')
      assert.deepEqual([await stored('wanted')], winners)
      const known = await Promise.all(added.map(({ hash }) => store.token(hash)))
      assert.equal(known.filter((each) => each !== undefined).length, 1)
    })

    it('are revoked for good, which other processes see at once; the first time counts', async () => {
      const token = newToken()
      const revoked = { ...token, revokedAt: 1_750_000_000_000 }
      await store.addToken(token)
      await elsewhere(async (again) => {
        assert.deepEqual(await again.token(token.hash), token)
        await store.revokeToken(token.name, revoked.revokedAt)
        assert.deepEqual(await again.token(token.hash), revoked)
        await again.revokeToken(token.name, 1_760_000_000_000)
      })
      await store.revokeToken(token.name, 1_740_000_000_000)
      assert.deepEqual(await store.token(token.hash), revoked)
      for (const name of ['nobody', '', 'ZETA']) await assert.rejects(store.revokeToken(name, 1), isError('no-token'))
    })
  })
}
