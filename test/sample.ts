/**
 * Long tables of cases: `npm test` runs a sample of them, `npm run test:long` runs all. The sample depends on the commit
 * alone, so that a failure can be repeated; `REAMS_TEST_SEED` sets another one, and `REAMS_TEST_ALL` runs all.
 */

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { describe, it, type TestContext } from 'node:test'

export interface Case {
  readonly group: string
  readonly name: string
  readonly run: (t: TestContext) => unknown
}

/** Collects what `describe` and `it` would run at once. */
export class Cases {
  readonly list: Case[] = []
  #group = ''

  readonly describe = (group: string, define: () => void): void => {
    const around = this.#group
    this.#group = around === '' ? group : `${around}: ${group}`
    define()
    this.#group = around
  }

  readonly it = (name: string, run: Case['run']): void => {
    this.list.push({ group: this.#group, name, run })
  }
}

/** Runs all cases as tests. */
export function runAll(cases: readonly Case[]): void {
  for (const [group, members] of Map.groupBy(cases, ({ group }) => group))
    describe(group, () => {
      for (const { name, run } of members) it(name, async (t) => void (await run(t)))
    })
}

/** Runs this share of the cases of every group, and at least one of each. */
export function runSample(cases: readonly Case[], usualShare: number): void {
  const share = process.env['REAMS_TEST_ALL'] ? 1 : usualShare
  const seed = process.env['REAMS_TEST_SEED'] ?? commit()
  const placeOf = ({ group, name }: Case) => createHash('sha256').update(`${seed}\n${group}\n${name}`).digest('hex')
  const chosen = new Set(
    [...Map.groupBy(cases, ({ group }) => group).values()].flatMap((members) =>
      members
        .map((each) => ({ each, place: placeOf(each) }))
        .sort((a, b) => (a.place < b.place ? -1 : 1))
        .slice(0, Math.ceil(members.length * share))
        .map(({ each }) => each),
    ),
  )
  it('a sample of all cases runs', (t) =>
    t.diagnostic(`${chosen.size} of ${cases.length} cases, chosen by REAMS_TEST_SEED=${seed}`))
  runAll(cases.filter((each) => chosen.has(each)))
}

function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], {
      cwd: import.meta.dirname,
      encoding: 'utf8',
      stdio: 'pipe',
    }).trim()
  } catch {
    return 'outside a clone'
  }
}
