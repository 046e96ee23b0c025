/** D16: ETags. */

import { shorten } from '../../contract/excerpt.ts'
import { type Answer, statusLine } from '../answer.ts'
import type { Rule } from '../rule.ts'
import type { Trial } from '../trial.ts'

export const D16: Rule = {
  id: 'D16',
  title: 'Every page has a strong ETag that changes with its bytes; If-None-Match gives 304; Cache-Control: no-cache.',
  why: 'A client that has a page asks whether it changed, and reads it only then. A tag that stays while the count changes keeps a wrong count alive.',
  hurts: 'a client that caches: it reads everything again, or keeps what is no longer true.',
  right: 'GET /events with If-None-Match: "the ETag it had" → 304',
  wrong: 'one ETag for all pages, for gzip and plain, or for a page before and after its item_count changed',
  scope: '200',
  watch: (trial) => ({ see: (answer) => judgeTag(trial, answer) }),
  async probe(trial) {
    const { bare } = trial.layout
    const cacheControl = bare.headers.get('cache-control')
    if (!/(^|[\s,])no-cache($|[\s,])/i.test(cacheControl ?? ''))
      trial.broken(
        bare,
        'Cache-Control: no-cache',
        cacheControl === null ? 'none' : `Cache-Control: ${shorten(cacheControl)}`,
      )
    await judgeConditions(trial, bare)
  },
  review: judgeAllTags,
}

/** Matches no page. */
const STRANGE_TAG = '"reams-check"'

function judgeTag(trial: Trial, answer: Answer): void {
  if (answer.status !== 200) return
  const tag = answer.headers.get('etag')
  if (tag === null) trial.broken(answer, 'a strong ETag', 'none')
  else if (!/^"[^"]*"$/.test(tag)) trial.broken(answer, 'a strong ETag, in double quotes', shorten(tag))
}

async function judgeConditions(trial: Trial, bare: Answer): Promise<void> {
  const tag = bare.headers.get('etag')
  if (tag === null || bare.status !== 200) return
  const opaque = tag.replace(/^W\//, '')
  const ask = (value: string) => trial.subject.bare({ 'If-None-Match': value })
  const matching = await Promise.all([ask(tag), ask(`${STRANGE_TAG}, W/${opaque}`), ask('*')])
  for (const answer of matching)
    if (answer.status !== 304) trial.differs(answer, '304 Not Modified', statusLine(answer))
  const strange = await ask(STRANGE_TAG)
  if (strange.status !== 200)
    trial.broken(strange, '200 OK, for a tag that is not that of the page', statusLine(strange))
}

/**
 * One tag stands for one sequence of bytes, on every page and in every encoding. Answers to odd requests are left out:
 * where their bytes differ and should not, another rule says so.
 */
function judgeAllTags(trial: Trial, answers: readonly Answer[]): void {
  const known = new Map<string, { bytes: string; answer: Answer }>()
  for (const answer of answers.filter((each) => isPlain(trial, each))) {
    const tag = answer.headers.get('etag')
    if (answer.status !== 200 || tag === null || tag.startsWith('W/')) continue
    const bytes = `${answer.headers.get('content-encoding') ?? 'identity'} ${answer.digest}`
    const before = known.get(tag)
    known.set(tag, before ?? { bytes, answer })
    if (before !== undefined && before.bytes !== bytes) {
      const expected = `another ETag than that of ${describe(before.answer)}, whose bytes are others`
      trial.broken(answer, expected, `the same one, ${shorten(tag)}`)
      // One is enough: a tag for all pages would fill the report.
      break
    }
  }
}

/** The bare URL, or a page of the collection by its number. */
function isPlain({ subject, layout }: Trial, { ask }: Answer): boolean {
  const page = ask.url.startsWith(`${subject.url}?page=`) ? ask.url.slice(subject.url.length + 6) : ''
  const isPage = /^[1-9][0-9]{0,14}$/.test(page) && Number(page) <= (layout.last ?? 1)
  const headers = Object.keys(ask.headers)
  return (
    ask.method === 'GET' && (ask.url === subject.url || isPage) && headers.every((name) => name === 'Accept-Encoding')
  )
}

function describe({ ask, headers }: Answer): string {
  const encoding = headers.get('content-encoding')
  return `${ask.url}${encoding === null ? '' : ` as ${shorten(encoding)}`}`
}
