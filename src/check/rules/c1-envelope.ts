/** C1: the envelope. */

import { type Answer, statusLine } from '../answer.ts'
import { saysTheSame } from '../document.ts'
import { shown } from '../json-kind.ts'
import type { Layout } from '../layout.ts'
import type { Rule } from '../rule.ts'
import type { DifferenceOf, Trial } from '../trial.ts'

export const C1: Rule = {
  id: 'C1',
  title: 'Every page answers 200 with an envelope of item_count, _links and _embedded, the same plain and as gzip.',
  why: 'One shape for every page is what lets a client be written once. Compression is a matter of transport and changes nothing.',
  hurts: 'every client: it finds no count, no links or no items where the contract puts them.',
  right: `GET /events → 200
{"item_count": 1234, "_links": {"first": {…}, "next": {…}, "last": {…}}, "_embedded": {"events": [{…}, …]}}`,
  wrong: `GET /events → 200
[{…}, {…}, …]`,
  scope: 'answer',
  watch: (trial) => ({ see: (answer) => judgeEnvelope(trial, answer) }),
  async probe(trial) {
    const { subject, layout } = trial
    const last = layout.last ?? 1
    const asks = last === 1 ? [layout.bare.ask] : [...new Set([2, last])].map((page) => subject.askPage(page))
    for (const ask of asks) {
      const [plain, gzip] = await Promise.all([subject.ask(ask), subject.ask({ ...ask, headers: GZIP })])
      if (plain.status === 200 && plain.document !== undefined) await trial.compare(plain, gzip, gzipDifference)
    }
  },
}

const ENVELOPE = 'an object with item_count, _links and _embedded'

const GZIP = { 'Accept-Encoding': 'gzip' }

function judgeEnvelope(trial: Trial, answer: Answer): void {
  for (const [expected, came] of flawsOf(answer, trial.layout)) trial.broken(answer, expected, came)
}

/** What is expected, and what came instead. */
function flawsOf(answer: Answer, { kind }: Layout): [expected: string, came: string][] {
  const { status, document, beginning } = answer
  if (status !== 200) return [['200 OK', statusLine(answer)]]
  if (document === undefined) return [['a JSON document', `no JSON: ${beginning}`]]
  if (document.kind !== 'an object') return [[ENVELOPE, `${document.kind}: ${document.shown}`]]
  if (kind === 'no envelope') return [[ENVELOPE, document.shown]]
  if (kind === 'unpaginated') return []
  const { itemCount, linksKind, embeddedKind } = document
  const flaws: [string, string][] = []
  // Without a count there is C2 to say so; a negative one has the right type.
  if (itemCount !== undefined && !Number.isInteger(itemCount))
    flaws.push(['a whole number as item_count', shown(itemCount)])
  if (linksKind !== 'an object') flaws.push(['an object as _links', `it is ${linksKind}`])
  if (embeddedKind !== 'an object') flaws.push(['an object as _embedded', `it is ${embeddedKind}`])
  return flaws
}

const gzipDifference: DifferenceOf = (plain, gzip) => {
  if (plain.digest === gzip.digest) return undefined
  if (gzip.status !== 200) return { expected: '200 OK, as without gzip', came: statusLine(gzip) }
  const isSame = plain.document && gzip.document && saysTheSame(plain.document, gzip.document)
  const expected = `the document of the plain answer, ${plain.byteLength} bytes`
  return isSame ? undefined : { expected, came: otherDocument(gzip) }
}

function otherDocument({ document, byteLength, beginning }: Answer): string {
  return document === undefined ? `no JSON: ${beginning}` : `another document, ${byteLength} bytes: ${document.shown}`
}
