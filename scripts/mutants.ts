/** Lets the checker judge every mutant, and prints which rule caught which: `npm run mutants`. */

import type { Report, RuleId } from '../src/check/index.ts'
import { checkConformance, RULES } from '../src/check/index.ts'
import { startServer } from '../test/check/correct-server.ts'
import type { Mutant } from '../test/check/mutants/mutant.ts'
import { MUTANTS } from '../test/check/mutants.ts'

/** The page of the documentation, from the table alone: test/check/mutants.test.ts keeps it true. */
export function mutantsPage(): { title: string; blocks: string[] } {
  const cell = (text: string) => text.replaceAll('|', '\\|')
  const ids = (rules: readonly RuleId[]) => rules.map((id) => `\`${id}\``).join(', ')
  const rows = MUTANTS.map(({ defect, caughtBy, also, isWalk, isDoubt }) => {
    const remarks = [...(isDoubt ? ['a warning'] : []), ...(isWalk ? ['with `--walk`'] : [])]
    const remark = remarks.length === 0 ? '' : ` (${remarks.join(', ')})`
    return `| ${cell(defect)} | ${ids([caughtBy])}${remark} | ${ids(inOrder(also))} |`
  })
  return {
    title: 'Mutants',
    blocks: [
      `A mutant is a server that keeps the contract but for one defect; there are ${MUTANTS.length}. \`npm run mutants\` lets \`reams check\` judge each of them and prints this table: the rule that is made for the defect catches it, and no other complains but those that the defect breaks as well.`,
      ['| defect | caught by | also breaks |', '| --- | --- | --- |', ...rows].join('\n'),
    ],
  }
}

export interface Outcome {
  readonly report: Report
  /** The rules that fail or warn, in the order of the report. */
  readonly caught: readonly RuleId[]
  /** As the server counted them. */
  readonly requests: number
}

export async function judge({ create, isWalk = false }: Mutant): Promise<Outcome> {
  const server = await startServer(create())
  try {
    const report = await checkConformance(server.url, { walk: isWalk })
    const caught = report.rules.filter(({ status }) => status === 'fail' || status === 'warn').map(({ id }) => id)
    return { report, caught, requests: server.requests() }
  } finally {
    await server.close()
  }
}

/** Every rule that should complain, in the order of the report. */
export function expectedRules({ caughtBy, also }: Mutant): RuleId[] {
  return inOrder([caughtBy, ...also])
}

function inOrder(ids: readonly RuleId[]): RuleId[] {
  return RULES.map(({ id }) => id).filter((id) => ids.includes(id))
}

/** Prints the table as it comes out; answers how many mutants were not caught as they should be. */
async function printTable(): Promise<number> {
  const print = (caughtBy: string, also: string, defect: string) =>
    console.log(`${caughtBy.padEnd(9)}  ${also.padEnd(24)}  ${defect}`)
  print('caught by', 'also', 'defect')
  let deviations = 0
  for (const mutant of MUTANTS) {
    const { caught } = await judge(mutant)
    const expected = expectedRules(mutant)
    const missed = expected.filter((id) => !caught.includes(id))
    const surplus = caught.filter((id) => !expected.includes(id))
    const isCaught = caught.includes(mutant.caughtBy)
    const also = caught.filter((id) => id !== mutant.caughtBy).map((id) => (surplus.includes(id) ? `${id}!` : id))
    const lacking = missed.filter((id) => id !== mutant.caughtBy).map((id) => `not ${id}!`)
    print(isCaught ? mutant.caughtBy : `not ${mutant.caughtBy}!`, [...also, ...lacking].join(' '), mutant.defect)
    if (missed.length + surplus.length > 0) deviations++
  }
  console.log(
    `${MUTANTS.length} mutants, ${MUTANTS.length - deviations} caught as they should be, ${deviations} otherwise${deviations > 0 ? ' (marked with !)' : ''}`,
  )
  return deviations
}

if (import.meta.main) process.exitCode = (await printTable()) > 0 ? 1 : 0
