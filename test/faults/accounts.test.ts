import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createRandom } from '../../bench/random.ts'
import { type Account, AccountWriter, checkWalk, driftOf, momentOf } from './accounts.ts'
import { Findings } from './report.ts'

const ACCOUNTS = 20
const PATCHES = 200

/** The accounts of one writer as its PATCHes leave them, in the order of a collection. */
function apply(accounts: ReadonlyMap<string, Account>, body: string): Map<string, Account> {
  const after = new Map(accounts)
  for (const line of body.split('\n')) {
    const { op, key, item } = JSON.parse(line)
    if (op === 'put') after.set(item.id, item)
    else assert.ok(after.delete(key), `${key} was deleted before`)
  }
  return after
}

/** A writer all of whose PATCHes were acknowledged, and its accounts after each. */
function newHistory() {
  const writer = new AccountWriter('w0', ACCOUNTS, createRandom(7))
  const states = [new Map(writer.firstAccounts.map((account) => [account.id, account]))]
  for (let patch = 0; patch < PATCHES; patch++) states.push(apply(states.at(-1) ?? new Map(), writer.begin()))
  writer.acknowledged = writer.sent
  return { writer, states: states.map((accounts) => [...accounts.values()]) }
}

/** Which kinds of findings a walk that began at a PATCH gives, with how many of each. */
function found(writer: AccountWriter, accounts: readonly Account[], acknowledged: number): Record<string, number> {
  const findings = new Findings()
  checkWalk('a walk', accounts, [[writer, acknowledged]], findings)
  return Object.fromEntries(Object.entries(findings.counts).filter(([, count]) => count > 0))
}

describe('the PATCHes of a writer', () => {
  it('keep the sum, and delete and create accounts', () => {
    const { writer, states } = newHistory()
    for (const accounts of states)
      assert.equal(
        accounts.reduce((sum, { amount }) => sum + amount, 0),
        writer.sum,
      )
    assert.ok(writer.deletes > 0)
    assert.ok(new Set(states.map(({ length }) => length)).size > 1)
  })
})

describe('the check of a walk', () => {
  const { writer, states } = newHistory()
  const last = states.at(-1) ?? []
  const [first, second, ...others] = last as [Account, Account, ...Account[]]

  it('accepts every state, if nothing that was acknowledged before is missing', () => {
    for (const [patch, accounts] of states.entries()) assert.deepEqual(found(writer, accounts, patch), {})
    assert.deepEqual(found(writer, states[PATCHES - 1] ?? [], PATCHES), { lost: 1 })
  })

  it('notices an account that is missing, twice there, or of another moment', () => {
    assert.deepEqual(found(writer, [second, ...others], 0), { lost: 1, partial: 1 })
    assert.deepEqual(found(writer, [first, ...last], 0), { doubled: 1, partial: 2 })
    const moved = [{ ...first, amount: first.amount + 1 }, { ...second, amount: second.amount - 1 }, ...others]
    assert.deepEqual(found(writer, moved, 0), { partial: 2 })
    assert.deepEqual(found(writer, [{ ...first, amount: first.amount + 1 }, second, ...others], 0), { partial: 2 })
  })
})

describe('the drift of a walk', () => {
  const { writer, states } = newHistory()
  const last = states.at(-1) ?? []

  it('is none where the walk shows one state', () => {
    assert.deepEqual(driftOf(last, momentOf([writer])), { skipped: 0, repeated: 0, isSumWrong: false })
  })

  it('counts what was there all the time and is missing, and what is there twice', () => {
    const [first, ...others] = last as [Account, ...Account[]]
    const isSumWrong = first.amount !== 0
    assert.deepEqual(driftOf(others, momentOf([writer])), { skipped: 1, repeated: 0, isSumWrong })
    assert.deepEqual(driftOf([first, ...last], momentOf([writer])), { skipped: 0, repeated: 1, isSumWrong })
  })

  it('does not count an account that was deleted meanwhile, also if it was created again', () => {
    const [before = []] = states
    const kept = new Set(writer.keptSince(0))
    assert.ok(kept.size < before.length)
    const walked = before.filter(({ id }) => kept.has(id))
    assert.equal(driftOf(walked, [[writer, 0]]).skipped, 0)
  })
})
