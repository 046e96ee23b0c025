/** Runs the checker, and prints its report or what a rule means. */

import {
  type CheckOptions,
  checkConformance,
  type Report,
  RULES,
  type Rule,
  type Verdict,
  WrongUse,
} from '../../../check/index.ts'
import { makeVisible } from '../../../contract/message-text.ts'
import { PAGE_SIZE } from '../../../contract/page.ts'
import { Failure } from '../../failure.ts'
import { Interruption } from '../../interruption.ts'
import { print, report as printReport, toJson } from '../../output.ts'
import { type Progress, startProgress } from '../../progress.ts'
import { readCa, readToken } from '../../remote-collection.ts'
import type { SettingValues } from '../../setting-values.ts'
import { reportText, wrap } from './text.ts'

const USUAL_COLUMNS = 80

const STATUS: Readonly<Record<Verdict, number>> = { passed: 0, failed: 1, undecided: 3 }

export async function runCheck([url]: readonly string[], settings: SettingValues): Promise<number> {
  const ruleId = settings.get('explain')
  if (ruleId !== undefined) {
    if (url !== undefined) throw new Failure(2, '--explain checks nothing: leave out the URL, or --explain.')
    const rule = findRule(ruleId)
    const { id, title, why, affects, right, wrong } = rule
    await printReport(settings, { id, title, why, affects, right, wrong }, explanation(rule))
    return 0
  }
  if (url === undefined)
    throw new Failure(2, 'The URL is missing: expected one such as https://api.example.com/events, or --explain.')
  const token = await readToken(settings.get('tokenFile'), process.env['REAMS_TOKEN'])
  const startedAt = performance.now()
  const report = await check(url, optionsOf(settings, token))
  const view = {
    durationMs: Math.round(performance.now() - startedAt),
    hasToken: token !== undefined,
    // A terminal that does not know its width says 0.
    columns: process.stdout.isTTY ? process.stdout.columns || USUAL_COLUMNS : undefined,
    isColoured: process.stdout.isTTY && process.stdout.hasColors(),
  }
  const isIndented = settings.get('reportFormat') === 'json' && !settings.get('json')
  if (isIndented) await print(toJson(report, 2))
  else await printReport(settings, report, reportText(report, view))
  return STATUS[report.verdict]
}

/** Only what was given: the rest is the checker's own. */
function optionsOf(settings: SettingValues, token: string | undefined): CheckOptions {
  const timeLimit = settings.get('timeLimit')
  return {
    collections: settings.get('collection'),
    baseUrl: settings.get('baseUrl'),
    token,
    ca: readCa(settings.get('ca')),
    walk: settings.get('walk'),
    strict: settings.get('strict'),
    concurrency: settings.get('concurrency'),
    delayMs: settings.get('delay'),
    timeoutMs: settings.get('timeout') * 1000,
    timeLimitMs: timeLimit && timeLimit * 1000,
    answerBytes: settings.get('answerBytes'),
  }
}

async function check(url: string, options: CheckOptions): Promise<Report> {
  using interruption = new Interruption()
  const { signal } = interruption
  // One bar for each collection, and again each time that it is read, with pages in ascending order.
  let bar: Progress | undefined
  let shown = { collection: '', page: 0 }
  const onPage = (collection: string, page: number, last: number): void => {
    const isOther = collection !== shown.collection || page < shown.page
    if (isOther) bar?.stop()
    if (isOther || bar === undefined) bar = startProgress(makeVisible(collection), last)
    bar.update(page, page * PAGE_SIZE)
    shown = { collection, page }
  }
  try {
    return await checkConformance(url, { ...options, signal, ...(options.walk && { onPage }) })
  } catch (error) {
    if (error instanceof WrongUse) throw new Failure(2, error.message, { cause: error })
    throw error
  } finally {
    bar?.stop()
  }
}

/** The case of the id does not matter. */
function findRule(text: string): Rule {
  const rule = RULES.find((each) => each.id === text.trim().toUpperCase())
  if (rule === undefined)
    throw new Failure(2, `There is no rule "${text}". The rules are ${RULES.map((each) => each.id).join(', ')}.`)
  return rule
}

function explanation(rule: Rule): string {
  const { id, title, why, affects, right, wrong } = rule
  // Responses stay as they are: a line break inside one would be wrong.
  const indented = (text: string): string => text.replace(/^/gm, '  ')
  return [
    wrap(`${id}  ${title}`, USUAL_COLUMNS, id.length + 2),
    wrap(`Why: ${why}`, USUAL_COLUMNS),
    wrap(`Affects: ${affects}`, USUAL_COLUMNS),
    `Right:\n${indented(right)}`,
    `Wrong:\n${indented(wrong)}`,
    consequenceOf(rule),
  ].join('\n\n')
}

/** The consequence for a server that breaks the rule. */
function consequenceOf({ id, onlyWarns }: Rule): string {
  if (onlyWarns) return 'A server that breaks it only gets a warning.'
  if (id.startsWith('C')) return 'A server that breaks it does not keep the contract.'
  return 'It fills a gap in the contract: a server that breaks it gets a warning, and\nfails only with --strict.'
}
