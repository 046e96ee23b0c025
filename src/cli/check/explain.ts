/** What `reams check --explain C7` prints: the rule, why it is there, who is hurt without it, a right and a wrong answer. */

import type { Rule } from '../../check/index.ts'
import { Failure } from '../failure.ts'
import { wrap } from '../wrap.ts'

const COLUMNS = 80

/** The case of the id does not matter. Throws a Failure for a rule that there is not. */
export async function explainRule(id: string): Promise<string> {
  const { RULES } = await import('../../check/index.ts')
  const rule = RULES.find((each) => each.id === id.trim().toUpperCase())
  if (rule === undefined)
    throw new Failure(2, `There is no rule "${id}". The rules are ${RULES.map((each) => each.id).join(', ')}.`)
  return explanation(rule)
}

function explanation(rule: Rule): string {
  return [
    wrap(`${rule.id}  ${rule.title}`, COLUMNS, rule.id.length + 2),
    '',
    wrap(`Why: ${rule.why}`, COLUMNS),
    '',
    wrap(`Hurts: ${rule.hurts}`, COLUMNS),
    '',
    'Right:',
    indented(rule.right),
    '',
    'Wrong:',
    indented(rule.wrong),
    '',
    rule.id.startsWith('C')
      ? 'A server that breaks it does not keep the contract.'
      : 'It fills a gap of the contract: a server that breaks it gets a warning, and\nfails only with --strict.',
  ].join('\n')
}

/** Answers stand as they are: a line break within one would be wrong. */
function indented(text: string): string {
  return text.replace(/^/gm, '  ')
}
