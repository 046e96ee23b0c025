import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createRandom } from '../../bench/random.ts'
import { type Deed, FEW_OPENINGS, Ledger } from './ledger.ts'
import { Findings } from './report.ts'

const STATES = 50

/** The accounts as a deed leaves them, in the order of a collection. */
function apply(before: ReadonlyMap<string, string>, { kind, ndjson }: Deed): Map<string, string> {
  const after = new Map(kind === 'replace' ? [] : before)
  for (const line of ndjson.trimEnd().split('\n')) {
    const { op = 'put', key, item = JSON.parse(line) } = JSON.parse(line)
    if (op === 'put') after.set(item.id, JSON.stringify(item))
    else assert.ok(after.delete(key), `${key} was deleted before`)
  }
  return after
}

/** A ledger and what a reader sees of each of its states, beginning with state 1. */
function newHistory(kinds?: typeof FEW_OPENINGS) {
  const ledger = new Ledger(createRandom(7), { accounts: 20, ...(kinds && { kinds }) })
  const states = [apply(new Map(), ledger.begin())]
  while (states.length < STATES) states.push(apply(states.at(-1) ?? new Map(), ledger.next()))
  return { ledger, states: states.map((texts) => [...texts.values()]) }
}

describe('the check of a state', () => {
  /** Which kinds of findings there are for a reader who has seen a state before, with how many of each. */
  function found(ledger: Ledger, texts: readonly string[], before: number): Record<string, number> {
    const findings = new Findings()
    ledger.check('it', texts, before, findings)
    return Object.fromEntries(Object.entries(findings.counts).filter(([, count]) => count > 0))
  }

  it('accepts every state that there was, and none before one that was seen', () => {
    for (const kinds of [undefined, FEW_OPENINGS]) {
      const { ledger, states } = newHistory(kinds)
      for (const [index, texts] of states.entries()) assert.deepEqual(found(ledger, texts, index), {})
      assert.deepEqual(found(ledger, states[STATES - 2] ?? [], STATES), { lost: 1 })
    }
  })

  it('notices an account that is missing, twice there, changed or in another place', () => {
    const { ledger, states } = newHistory(FEW_OPENINGS)
    const last = states.at(-1) ?? []
    const rich = last.findIndex((text) => JSON.parse(text).amount > 0)
    assert.deepEqual(found(ledger, last.toSpliced(rich, 1), 0), { partial: 2 })
    assert.deepEqual(found(ledger, [...last, last[rich] ?? ''], 0), { doubled: 1, partial: 2 })
    assert.deepEqual(found(ledger, last.toSpliced(rich, 1, states[0]?.[rich] ?? ''), 0), { partial: 2 })
    assert.deepEqual(found(ledger, [...last.slice(0, 1), ...last.slice(1).reverse()], 0), { partial: 1 })
    assert.deepEqual(found(ledger, [`{"id":"counter","amount":${ledger.sum},"note":"999"}`], 0), { foreign: 1 })
  })

  it('accepts what a backup brings back, but not twice', () => {
    const { ledger, states } = newHistory(FEW_OPENINGS)
    const saved = ledger.save()
    const lost = apply(new Map(states.at(-1)?.map((text) => [JSON.parse(text).id, text])), ledger.next())
    ledger.restore(saved)
    const next = apply(new Map(states.at(-1)?.map((text) => [JSON.parse(text).id, text])), ledger.next())
    assert.deepEqual(found(ledger, states.at(-1) ?? [], STATES + 1), {})
    assert.deepEqual(found(ledger, [...next.values()], STATES + 1), {})
    assert.deepEqual(found(ledger, [...lost.values()], STATES + 2), { lost: 1 })
  })
})

it('a ledger knows which accounts have been there without a break', () => {
  const { ledger, states } = newHistory(FEW_OPENINGS)
  const keysOf = (texts: readonly string[] = []) => texts.map((text) => String(JSON.parse(text).id))
  assert.ok(ledger.closings > 0)
  assert.deepEqual(ledger.keptSince(STATES), keysOf(states.at(-1)))
  for (const [index] of states.entries()) {
    const kept = keysOf(states[index]).filter((id) => states.slice(index).every((texts) => keysOf(texts).includes(id)))
    assert.ok(new Set(ledger.keptSince(index + 1)).isSubsetOf(new Set(kept)))
  }
})
