/** Checks whether a server keeps the contract, and answers with a report. */

import { checkCollection } from './check-collection.ts'
import { collectionsOf } from './collections-of.ts'
import { hideToken } from './hide-token.ts'
import { createHttpFetch } from './http-fetch.ts'
import { type CollectionReport, REPORT_FORMAT, type Report, type RuleReport, type RuleStatus } from './report.ts'
import { Requester, type RequesterOptions } from './requester.ts'
import type { Rule, RuleId } from './rule.ts'
import { RULES } from './rules/index.ts'

export interface CheckOptions {
  /** Answers the requests: that of a service in the same process, say. Default: real sockets. */
  readonly fetch?: (request: Request) => Response | Promise<Response>
  /** The rules to try. Default: all. */
  readonly rules?: readonly RuleId[]
  /** Names of collections under `url`, which is then the base URL. Default: `url` is a collection or an entry point. */
  readonly collections?: readonly string[]
  /** What links should begin with, where the server is reached under another address. Default: the address itself. */
  readonly baseUrl?: string
  /** D rules decide too. Default: false, they warn. */
  readonly strict?: boolean
  /** Read all pages. Default: false, a sample of them. */
  readonly walk?: boolean
  /** A bearer token for every request. */
  readonly token?: string
  /** Requests for each collection at most, without those of a walk. Default: 60. */
  readonly requests?: number
  /** Requests at a time. Default: 4. */
  readonly concurrency?: number
  /** Pause between the beginnings of two requests. Default: 0. */
  readonly delayMs?: number
  /** The longest wait for one answer. Default: 10 seconds. */
  readonly timeoutMs?: number
  /** The longest run. Default: 2 minutes, an hour for a walk. */
  readonly timeLimitMs?: number
  /** The largest body that is read, unpacked. Default: 64 MiB. */
  readonly answerBytes?: number
  /** Ends the run; `checkConformance` then rejects with its reason. */
  readonly signal?: AbortSignal
  /** Called for every page that is read. */
  readonly onPage?: (collection: string, page: number, last: number) => void
}

export const CHECK_DEFAULTS = {
  requests: 60,
  concurrency: 4,
  delayMs: 0,
  timeoutMs: 10_000,
  timeLimitMs: 120_000,
  walkTimeLimitMs: 3_600_000,
  answerBytes: 64 * 1024 * 1024,
} as const

/** A URL or an option that cannot be used. */
export class WrongUse extends TypeError {
  override readonly name = 'WrongUse'
}

/** Throws WrongUse for a URL or options that cannot be used; everything that the server does is in the report. */
export async function checkConformance(url: string, options: CheckOptions = {}): Promise<Report> {
  const rules = rulesOf(options.rules)
  const address = addressOf(url)
  const http = options.fetch === undefined ? createHttpFetch() : undefined
  const requester = new Requester(requesterOptions(options, options.fetch ?? http?.fetch))
  try {
    const targets = await collectionsOf(requester, address, options)
    const collections: CollectionReport[] = []
    const reports: RuleReport[] = []
    for (const [index, target] of targets.entries()) {
      const [collection, ruleReports] = await checkCollection({
        requester,
        ...target,
        rules,
        isStrict: options.strict ?? false,
        isWalk: options.walk ?? false,
        concurrency: options.concurrency ?? CHECK_DEFAULTS.concurrency,
        // The request that looked for an entry point counts too.
        requests: (options.requests ?? CHECK_DEFAULTS.requests) - (index === 0 ? requester.sent : 0),
        hasToken: options.token !== undefined,
        onPage: (page, last) => options.onPage?.(target.url, page, last),
      })
      collections.push(collection)
      reports.push(...ruleReports)
    }
    const report = reportOf(url, collections, reports, options.strict ?? false, requester.sent)
    return options.token === undefined ? report : hideToken(report, options.token)
  } finally {
    http?.close()
  }
}

function requesterOptions(options: CheckOptions, fetch: RequesterOptions['fetch'] | undefined): RequesterOptions {
  const defaultLimit = options.walk ? CHECK_DEFAULTS.walkTimeLimitMs : CHECK_DEFAULTS.timeLimitMs
  return {
    fetch: fetch ?? globalThis.fetch,
    token: options.token,
    concurrency: options.concurrency ?? CHECK_DEFAULTS.concurrency,
    delayMs: options.delayMs ?? CHECK_DEFAULTS.delayMs,
    timeoutMs: options.timeoutMs ?? CHECK_DEFAULTS.timeoutMs,
    timeLimitMs: options.timeLimitMs ?? defaultLimit,
    answerBytes: options.answerBytes ?? CHECK_DEFAULTS.answerBytes,
    signal: options.signal,
  }
}

function rulesOf(ids: readonly RuleId[] | undefined): readonly Rule[] {
  const known = RULES.map(({ id }) => id)
  const unknown = ids?.find((id) => !known.includes(id))
  if (unknown !== undefined) throw new WrongUse(`There is no rule "${unknown}". The rules are ${known.join(', ')}.`)
  return ids === undefined ? RULES : RULES.filter(({ id }) => ids.includes(id))
}

function addressOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const example = 'Give one such as https://api.example.com/events.'
  if (url === undefined) throw new WrongUse(`"${text}" is not an absolute URL. ${example}`)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new WrongUse(`"${text}" does not begin with http: or https:. ${example}`)
  if (url.username !== '' || url.password !== '')
    throw new WrongUse(`The URL holds a user name or password. Give it without, and a token beside it. ${example}`)
  if (/[?#]/.test(text))
    throw new WrongUse(`"${text}" has a query or a fragment; the URL of a collection has none. ${example}`)
  return url
}

function reportOf(
  url: string,
  collections: readonly CollectionReport[],
  rules: readonly RuleReport[],
  isStrict: boolean,
  requests: number,
): Report {
  const count = (status: RuleStatus) => rules.filter((rule) => rule.status === status).length
  const summary = { pass: count('pass'), fail: count('fail'), warn: count('warn'), skip: count('skip') }
  // Those that only warn do not decide when they were not judged either.
  const isJudged = rules.every(({ id, judged }) => judged || (id.startsWith('D') && !isStrict))
  const verdict = summary.fail > 0 ? 'broken' : isJudged ? 'kept' : 'unjudged'
  return { format: REPORT_FORMAT, url, verdict, requests, collections, rules, summary }
}
