/** D16: ETags. */

import { shorten } from '../../contract/message-text.ts'
import { type Answer, statusLine } from '../answer.ts'
import { probedPage } from '../questions.ts'
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
  async probe(trial) {
    const { subject, layout } = trial
    const plain = layout.kind === 'paginated' ? subject.askPage(probedPage(trial)) : layout.bare.ask
    await judgeConditions(trial, layout.bare, await subject.ask(plain))
  },
  review(trial, answers) {
    const plain = answers.filter((answer) => isPlain(trial, answer) && answer.status === 200)
    for (const answer of plain) judgeHeaders(trial, answer)
    judgeAllTags(trial, plain)
  },
}

/** Matches no page. */
const STRANGE_TAG = '"reams-check"'

function judgeHeaders(trial: Trial, answer: Answer): void {
  const tag = answer.headers.get('etag')
  if (tag === null) trial.broken(answer, 'a strong ETag', 'none')
  else if (!/^"[^"]*"$/.test(tag)) trial.broken(answer, 'a strong ETag, in double quotes', shorten(tag))
  const cacheControl = answer.headers.get('cache-control')
  if (!/(^|[\s,])no-cache($|[\s,])/i.test(cacheControl ?? ''))
    trial.broken(
      answer,
      'Cache-Control: no-cache',
      cacheControl === null ? 'none' : `Cache-Control: ${shorten(cacheControl)}`,
    )
}

async function judgeConditions(trial: Trial, bare: Answer, page: Answer): Promise<void> {
  const ask = (answer: Answer, value: string) =>
    trial.subject.ask({ ...answer.ask, headers: { 'If-None-Match': value } })
  const [bareTag, pageTag] = [bare, page].map(({ headers }) => headers.get('etag'))
  if (bareTag == null || pageTag == null || page.status !== 200) return
  const weakened = `${STRANGE_TAG}, W/${bareTag.replace(/^W\//, '')}`
  const matching = await Promise.all([ask(page, pageTag), ask(bare, weakened), ask(bare, '*')])
  const tags = [pageTag, bareTag, bareTag]
  for (const [index, answer] of matching.entries()) {
    // Another tag by now: the page is another one.
    const isStill = answer.status !== 200 || answer.headers.get('etag') === tags[index]
    if (answer.status !== 304 && isStill) trial.differs(answer, '304 Not Modified', statusLine(answer))
  }
  const strange = await ask(bare, STRANGE_TAG)
  if (strange.status !== 200)
    trial.broken(strange, '200 OK, for a tag that is not that of the page', statusLine(strange))
}

/**
 * One tag stands for one sequence of bytes, on every page and in every encoding, and the same bytes keep their tag. Answers to odd requests are left out:
 * where their bytes differ and should not, another rule says so.
 */
function judgeAllTags(trial: Trial, answers: readonly Answer[]): void {
  const known = new Map<string, { bytes: string; answer: Answer }>()
  const tags = new Map<string, string>()
  for (const answer of answers) {
    const tag = answer.headers.get('etag')
    if (tag === null || tag.startsWith('W/')) continue
    const bytes = `${answer.headers.get('content-encoding') ?? 'identity'} ${answer.digest}`
    const place = `${answer.ask.url} ${bytes}`
    const earlier = tags.get(place)
    tags.set(place, tag)
    if (earlier !== undefined && earlier !== tag) {
      trial.broken(answer, `${shorten(earlier)}, as for the same bytes before`, shorten(tag))
      break
    }
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
