/** `reams check URL`: asks a server as the contract's rules want it, and prints how it answered. */

import type { CheckOptions, Report, Verdict } from '../check/index.ts'
import { explainRule } from './check/explain.ts'
import { reportJson } from './check/json.ts'
import { reportJunit } from './check/junit.ts'
import { type ReportView, reportText } from './check/text.ts'
import { WalkProgress } from './check/walk-progress.ts'
import type { CliCommand } from './command.ts'
import { Failure } from './failure.ts'
import { Interruption } from './interruption.ts'
import { print } from './output.ts'
import type { SettingValues } from './setting-values.ts'
import { readToken } from './token.ts'

export const CHECK: CliCommand = {
  name: 'check',
  group: 'Look and check',
  usage: 'URL [options]',
  summary: 'check that a server keeps the contract',
  description: `Checks whether a server keeps the contract, whatever it is written in. It sends
GET, HEAD and OPTIONS alone. C rules decide; D rules, which fill gaps of the
contract, warn. Exit status 0: kept, 1: broken, 2: used wrongly, 3: could not
judge. REAMS_TOKEN can hold a token.`,
  operands: [{ syntax: '[URL]', description: 'a collection, an entry point or a base URL' }],
  examples: [
    { line: 'reams check https://x.example/events', purpose: 'a collection' },
    { line: 'reams check https://x.example', purpose: 'all that the entry point links' },
    { line: 'reams check https://x.example/events --walk', purpose: 'every page of it' },
    { line: 'reams check --explain C7', purpose: 'what a rule is about' },
  ],
  run: runCheck,
}

const USUAL_COLUMNS = 80

const STATUS: Readonly<Record<Verdict, number>> = { kept: 0, broken: 1, unjudged: 3 }

const FORMATS: Readonly<Record<'text' | 'json' | 'junit', (report: Report, view: ReportView) => string>> = {
  text: reportText,
  json: reportJson,
  junit: reportJunit,
}

async function runCheck([url]: readonly string[], settings: SettingValues): Promise<number> {
  const ruleId = settings.get('explain')
  if (ruleId !== undefined) {
    if (url !== undefined)
      throw new Failure(2, 'There is a URL and --explain, which checks nothing. Give one of the two.')
    await print(await explainRule(ruleId))
    return 0
  }
  if (url === undefined)
    throw new Failure(2, 'There is no URL to check. Give one such as https://api.example.com/events, or --explain.')
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
  await print(FORMATS[settings.get('reportFormat')](report, view))
  return STATUS[report.verdict]
}

/** Only what was given: the rest is the checker's own. */
function optionsOf(settings: SettingValues, token: string | undefined): CheckOptions {
  const collections = settings.get('collection')
  const baseUrl = settings.get('baseUrl')
  const timeLimit = settings.get('timeLimit')
  return {
    ...(collections !== undefined && { collections }),
    ...(baseUrl !== undefined && { baseUrl }),
    ...(token !== undefined && { token }),
    walk: settings.get('walk'),
    strict: settings.get('strict'),
    requests: settings.get('requests'),
    concurrency: settings.get('concurrency'),
    delayMs: settings.get('delay'),
    timeoutMs: settings.get('timeout') * 1000,
    ...(timeLimit !== undefined && { timeLimitMs: timeLimit * 1000 }),
    answerBytes: settings.get('answerBytes'),
  }
}

async function check(url: string, options: CheckOptions): Promise<Report> {
  // Here and not above, so that other commands start without the checker.
  const { checkConformance, WrongUse } = await import('../check/index.ts')
  using interruption = new Interruption()
  using progress = new WalkProgress()
  const { signal } = interruption
  try {
    return await checkConformance(url, { ...options, signal, ...(options.walk && { onPage: progress.onPage }) })
  } catch (error) {
    if (error instanceof WrongUse) throw new Failure(2, error.message, { cause: error })
    throw error
  }
}
