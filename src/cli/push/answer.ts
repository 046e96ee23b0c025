/** What the server says to a batch: that it has the items, or why not. */

import { shorten } from '../../contract/message-text.ts'
import type { FailureStatus } from '../failure.ts'
import { formatCount, formatItems } from '../figures.ts'
import { type Batch, placeOf } from './batch.ts'
import type { Answer } from './connection.ts'
import { PushStopped } from './stopped.ts'

/** Of each sentence of a problem. */
const MAX_CHARACTERS = 500

/** Answers how many items the collection has now. Throws a PushStopped for anything but an acknowledgement. */
export function readAnswer(answer: Answer, batch: Batch, url: string): number {
  const { status, statusText, body } = answer
  const fields = parseObject(body)
  if (status === 201) {
    const { appended, item_count: itemCount } = fields
    if (appended === batch.count && typeof itemCount === 'number') return itemCount
    throw notReams(`201, without saying that ${formatItems(batch.count)} were appended`, batch, url, body)
  }
  const shown = `${status} ${shorten(statusText)}`.trim()
  if (status < 300) throw notReams(`${shown}, not with 201`, batch, url, body)
  if (status < 400) {
    const target = shorten(answer.header('location') ?? 'nowhere')
    const advice = 'Redirects are not followed, because of the token: if you trust that address, push to it.'
    throw new PushStopped(2, false, `${url} redirects to ${target} (${shown}). ${advice}`)
  }
  const text = problemText(fields, batch) ?? `${shown}${body === '' ? '.' : `: ${shorten(body)}`}`
  const message = [`${url} refused ${placeOf(batch)}: ${text}`, ...adviceOn(status, batch)].join(' ')
  throw new PushStopped(exitStatusOf(status), isOpen(status), message)
}

/** Why the server has not taken a batch, for now. */
export function reasonIn({ status, statusText, body }: Answer): string {
  const { detail } = parseObject(body)
  const reason = typeof detail === 'string' ? `: ${shorten(detail).replace(/\.$/, '')}` : ''
  return `the server answered ${`${status} ${shorten(statusText)}`.trim()}${reason}`
}

/** What helps at the command line, besides the hint of the server. */
function adviceOn(status: number, { first }: Batch): string[] {
  if (status === 401) return ['A token comes from --token-file or REAMS_TOKEN.']
  if (status === 413) return ['A smaller --batch sends less at a time.']
  if (status !== 422) return []
  return [
    'Was the file changed, or does another push of it run?',
    `If the collection has these items, --unanswered skip:${first + 1} goes on behind them.`,
  ]
}

function exitStatusOf(status: number): FailureStatus {
  if (status === 401 || status === 403 || status === 404) return 2
  return status >= 500 && status !== 507 ? 3 : 1
}

/** A server that failed may have appended first, and one that knows the key has appended something. */
function isOpen(status: number): boolean {
  return status === 422 || (status >= 500 && status !== 507)
}

function notReams(what: string, batch: Batch, url: string, body: string): PushStopped {
  const sentences = [
    `${url} answered ${placeOf(batch)} with ${what}.`,
    'This does not look like a Reams server.',
    ...(body === '' ? [] : [`It said: ${shorten(body)}`]),
  ]
  return new PushStopped(2, true, sentences.join(' '))
}

/** Title, detail and hint of a problem; undefined for anything else. */
function problemText({ status, title, detail, hint }: Record<string, unknown>, batch: Batch): string | undefined {
  if (typeof title !== 'string') return undefined
  const sentences = [`${title}${typeof status === 'number' ? ` (${status})` : ''}.`, inFile(detail, batch), hint]
  return sentences.flatMap((each) => (typeof each === 'string' ? each.slice(0, MAX_CHARACTERS) : [])).join(' ')
}

/** `Element 17: …` is about the body; here the item is named by its place in the file. */
function inFile(detail: unknown, { first, lines }: Batch): unknown {
  if (typeof detail !== 'string') return detail
  return detail.replace(/^Element (\d+):/, (text, digits: string) => {
    const line = lines[Number(digits)]
    return line === undefined ? text : `Item ${formatCount(first + Number(digits) + 1)} (line ${formatCount(line)}):`
  })
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}
