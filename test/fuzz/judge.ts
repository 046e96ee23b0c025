/** Says what is wrong with the answers of a connection. */

import { gunzipSync } from 'node:zlib'
import type { RawAnswer } from '../service/raw-http.ts'
import type { Transcript } from './exchange.ts'
import { answersDue, type Message } from './message.ts'
import type { Plan } from './plan.ts'
import { SECRET, TOKENS, VENUES } from './site.ts'

/** Problems that no client may be able to cause. */
const FAILURES = ['internal-error', 'store-unavailable', 'outcome-unknown', 'store-full']

/** Everything that is wrong, in words. */
export function judge({ messages: planned }: Plan, transcript: Transcript): string[] {
  const { reader, ending } = transcript
  const messages = asSent(planned, transcript)
  const due = answersDue(messages)
  return [
    ...(ending === 'not answered' ? ['a request was not answered'] : []),
    ...(ending === 'left open' ? ['the server did not close the connection'] : []),
    ...(reader.flaw !== undefined && !isAmbiguous(messages, reader.answers.length) ? [reader.flaw] : []),
    ...judgeCount(messages, transcript, due),
    ...reader.answers.flatMap((answer, index) => {
      if (isAmbiguous(messages, index)) return []
      return judgeAnswer(answer, messages[index], index < due, transcript.sent)
    }),
  ]
}

/** The messages as they were sent: the last one may be cut off. */
function asSent(planned: readonly Message[], { sentMessages, cutOff }: Transcript): Message[] {
  const whole = planned.slice(0, sentMessages)
  const kind = planned[sentMessages]?.kind === 'odd' ? 'odd' : 'cut off'
  return cutOff.length === 0 ? whole : [...whole, { bytes: cutOff, kind }]
}

/** From the first odd message on, nobody can tell which answer is to a HEAD and so has no body. */
function isAmbiguous(messages: readonly Message[], index: number): boolean {
  const firstOdd = messages.findIndex(({ kind }) => kind !== 'ordinary')
  if (firstOdd < 0 || index < firstOdd) return false
  return messages.slice(firstOdd).some(({ bytes }) => bytes.includes('HEAD'))
}

function judgeCount(messages: readonly Message[], { reader, ending }: Transcript, due: number): string[] {
  const { answers, rest, flaw } = reader
  const flaws: string[] = []
  const isOrdinary = messages.every(({ kind }) => kind === 'ordinary')
  const closing = answers.findIndex(({ headers }) => /\bclose\b/i.test(headers.get('connection') ?? ''))
  const isClosing = closing >= 0
  if (isClosing && answers.length > closing + 1) flaws.push('more follows an answer with Connection: close')
  if (isClosing && messages[closing]?.kind === 'ordinary' && (answers[closing]?.status ?? 0) < 400)
    flaws.push('the connection was closed after an ordinary request')
  const isCountable = !isAmbiguous(messages, answers.length) && messages.every(({ kind }) => kind !== 'odd')
  if (isCountable && answers.length > messages.length) flaws.push('there are more answers than requests')
  if (isOrdinary && !isClosing && ending === 'reset by the server')
    flaws.push('the server reset an ordinary connection')
  if (ending !== 'closed' || flaw !== undefined || isAmbiguous(messages, answers.length)) return flaws
  if (answers.length < due && !isClosing) flaws.push('the server closed the connection before it answered')
  if (rest.length > 0) flaws.push('an answer is cut off')
  return flaws
}

/** `isCertain`: it is the answer to this message. */
function judgeAnswer(answer: RawAnswer, to: Message | undefined, isCertain: boolean, sent: Buffer): string[] {
  const { status } = answer
  const message = isCertain ? to : undefined
  const isHead = to?.isHead === true
  const flaws: string[] = []
  const add = (flaw: string | undefined) => {
    if (flaw !== undefined) flaws.push(flaw)
  }
  const isBusy = status === 503 && problemNameOf(answer).endsWith('-busy')
  if (message?.statuses !== undefined && !message.statuses.includes(status) && !isBusy)
    flaws.push(`a request was answered ${status} instead of ${message.statuses.join(' or ')}`)
  if (status === 500) flaws.push('a request was answered 500')
  if (status === 201 && !sent.includes(TOKENS.writer.token)) flaws.push('somebody wrote without a token')
  const body = decoded(answer)
  if (body === undefined) return [...flaws, 'an answer says gzip and is not']
  if (!isHead && status >= 400) add(problemFlaw(answer, body, sent))
  if (message?.shows !== undefined && status === 200) add(pageFlaw(answer, body, message.shows))
  const mayRead = sent.includes(TOKENS.writer.token) || sent.includes(TOKENS.reader.token)
  if (!mayRead && body.includes(SECRET)) flaws.push('somebody read a private collection without a token')
  return flaws
}

function decoded({ headers, body }: RawAnswer): Buffer | undefined {
  if (headers.get('content-encoding') !== 'gzip' || body.length === 0) return body
  try {
    return gunzipSync(body)
  } catch {
    return undefined
  }
}

/** The last part of the `type`; '' where there is none. */
function problemNameOf({ body }: RawAnswer): string {
  return String(parsed(body)?.['type']).split('/').at(-1) ?? ''
}

function problemFlaw(answer: RawAnswer, body: Buffer, sent: Buffer): string | undefined {
  const type = answer.headers.get('content-type') ?? 'none'
  if (type.startsWith('text/html') && sent.includes('text/html')) return undefined
  if (type !== 'application/problem+json') return `a ${answer.status} has the Content-Type ${type}`
  const problem = parsed(body)
  const isWhole = ['type', 'title', 'detail', 'hint'].every((field) => typeof problem?.[field] === 'string')
  if (!isWhole || problem?.['status'] !== answer.status) return `a ${answer.status} is not a complete problem`
  const name = String(problem['type']).split('/').at(-1) ?? ''
  return FAILURES.includes(name) ? `a request was answered ${name}` : undefined
}

function pageFlaw({ headers }: RawAnswer, body: Buffer, name: string): string | undefined {
  if (headers.get('content-type')?.startsWith('text/html')) return undefined
  const page = parsed(body)
  const embedded = page?.['_embedded']
  const items = isObject(embedded) ? embedded[name] : undefined
  if (!Array.isArray(items)) return `a page of ${name} has no items`
  const count = page?.['item_count']
  if (name === VENUES) return count === undefined ? undefined : 'an unpaginated collection has an item_count'
  return typeof count === 'number' && count >= items.length
    ? undefined
    : `a page of ${name} has the item_count ${count}`
}

function parsed(bytes: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString())
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
