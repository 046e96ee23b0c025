import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { allows, isTokenForm, isTokenName, parseScope, TOKEN_PREFIX } from '../../src/contract/index.ts'
import { hideTokens, holdsToken } from '../../src/contract/scope.ts'

const ACTIONS = ['read', 'write', 'create'] as const

describe('a scope', () => {
  it('is an action on a collection or on all, or admin', () => {
    assert.deepEqual(parseScope('read:events'), { action: 'read', collection: 'events' })
    assert.deepEqual(parseScope('write:2024-01_raw.v2'), { action: 'write', collection: '2024-01_raw.v2' })
    assert.deepEqual(parseScope('create:*'), { action: 'create', collection: '*' })
    assert.deepEqual(parseScope('admin'), { action: 'admin', collection: '*' })
  })

  const wrong = [
    ...'|read|read:|:events|events|*|Read:events|READ:events|read:Events|read:a/b|read:-a|read:**|read:ev*'.split('|'),
    ...'read:a:b|read:a,b|read: events| read:events|read:events |read:events\n|delete:events|admin:events'.split('|'),
    ...`admin:*|Admin|constructor:events|read:${'x'.repeat(65)}`.split('|'),
  ]
  for (const text of wrong)
    it(`cannot be ${JSON.stringify(text)}, which allows nothing`, () => {
      assert.equal(parseScope(text), undefined)
      for (const action of ACTIONS) assert.equal(allows([text], action, 'events'), false)
      assert.equal(allows([text], 'read', 'events'), false)
    })
})

describe('what scopes allow', () => {
  const cases: [scopes: string[], allowed: (typeof ACTIONS)[number][], onOthers: (typeof ACTIONS)[number][]][] = [
    [[], [], []],
    [['read:events'], ['read'], []],
    [['write:events'], ['read', 'write'], []],
    [['create:events'], ['read', 'write', 'create'], []],
    [['read:*'], ['read'], ['read']],
    [['write:*'], ['read', 'write'], ['read', 'write']],
    [['create:*'], ['read', 'write', 'create'], ['read', 'write', 'create']],
    [['admin'], ['read', 'write', 'create'], ['read', 'write', 'create']],
    [['read:*', 'write:events'], ['read', 'write'], ['read']],
    [['write:events', 'create:venues', 'nonsense'], ['read', 'write'], [...ACTIONS]],
    // One name is the beginning of another: that is no scope on it.
    [['write:event', 'write:events-2'], [], []],
  ]
  for (const [scopes, onEvents, onVenues] of cases)
    it(`${scopes.join(' and ') || 'none'}: ${onEvents.join(', ') || 'nothing'} on events`, () => {
      const allowed = (collection: string) => ACTIONS.filter((action) => allows(scopes, action, collection))
      assert.deepEqual(allowed('events'), onEvents)
      assert.deepEqual(allowed('venues'), onVenues)
    })

  it('a scope on one collection is none on something called *', () => assert.ok(!allows(['read:events'], 'read', '*')))
})

describe('the form of a token', () => {
  const secret = `${'aZ09_-'.repeat(7)}A`

  it('is the prefix and 43 characters of base64url', () => {
    assert.equal(secret.length, 43)
    assert.ok(isTokenForm(`${TOKEN_PREFIX}${secret}`))
    assert.equal(TOKEN_PREFIX, 'reams_')
  })

  const short = secret.slice(1)
  for (const text of [
    ...['', 'reams_', secret, `reams_${secret}A`, `reams_${short}`, `REAMS_${secret}`, `reams_${short}=`],
    ...[`reams_${secret.replace('_', '/')}`, `reams_${secret}\n`, ` reams_${secret}`, `reams_${short}é`],
  ])
    it(`is not ${JSON.stringify(text)}`, () => assert.ok(!isTokenForm(text)))

  it('is found and hidden in any text, also where the end of the token is missing', () => {
    const token = `${TOKEN_PREFIX}${secret}`
    for (const [text, hidden] of [
      [`a ${token} b ${token}`, 'a reams_… b reams_…'],
      [`x${token.slice(0, 6 + 32)}`, 'xreams_…'],
      [`${token}more`, 'reams_…'],
      [token.slice(0, 6 + 31), undefined],
      ['reams_ and more', undefined],
      [secret, undefined],
    ] as const) {
      assert.equal(holdsToken(text), hidden !== undefined, text)
      assert.equal(hideTokens(text), hidden ?? text)
    }
  })
})

describe('the name of a token', () => {
  for (const name of ['ci', 'C', '7', 'Deploy_2.prod-eu', 'a'.repeat(64)])
    it(`can be ${name}`, () => assert.ok(isTokenName(name)))
  for (const name of ['', '-ci', '.ci', '_ci', 'a b', 'a/b', 'é', 'ci\n', '*', 'a'.repeat(65)])
    it(`cannot be ${JSON.stringify(name)}`, () => assert.ok(!isTokenName(name)))
})
