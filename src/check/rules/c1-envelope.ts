/** C1: the envelope. */

import { type HttpResponse, statusLine } from '../http/response.ts'
import type { Layout } from '../layout.ts'
import { saysTheSame } from '../page/document.ts'
import { shown } from '../page/items.ts'
import type { DifferenceOf, Rule } from '../rule.ts'

export const C1: Rule = {
  id: 'C1',
  title: 'Every page answers 200 with an envelope of item_count, _links and _embedded, the same plain and as gzip.',
  why: 'With one shape for every page, a client has to be written only once. Compression is a matter of transport and changes nothing.',
  hurts: 'every client: it finds no count, no links or no items where the contract puts them.',
  right: `GET /events → 200
{"item_count": 1234, "_links": {"first": {…}, "next": {…}, "last": {…}}, "_embedded": {"events": [{…}, …]}}`,
  wrong: `GET /events → 200
[{…}, {…}, …]`,
  scope: 'answer',
  inspect(check, response) {
    for (const [expected, came] of flawsOf(response, check.layout)) check.broken(response, expected, came)
  },
  async probe(check) {
    const { collection, layout } = check
    const last = layout.last ?? 1
    const pages = [...new Set([2, last])].map((page) => collection.pageRequest(page))
    for (const request of last === 1 ? [layout.bare.request] : pages) {
      const packed = { ...request, headers: { 'Accept-Encoding': 'gzip' } }
      const [plain, gzip] = await Promise.all([collection.send(request), collection.send(packed)])
      if (plain.status === 200 && plain.document !== undefined) await check.compare(plain, gzip, gzipDifference)
    }
  },
}

const ENVELOPE = 'an object with item_count, _links and _embedded'

/** What is expected, and what came instead. */
function flawsOf(response: HttpResponse, { kind }: Layout): [expected: string, came: string][] {
  const { status, document, beginning } = response
  if (status !== 200) return [['200 OK', statusLine(response)]]
  if (document === undefined) return [['a JSON document', `no JSON: ${beginning}`]]
  if (document.kind !== 'an object') return [[ENVELOPE, `${document.kind}: ${document.shown}`]]
  if (kind === 'no envelope') return [[ENVELOPE, document.shown]]
  if (kind === 'unpaginated') return []
  const { itemCount, linksKind, embeddedKind } = document
  const flaws: [string, string][] = []
  // A missing count is C2's matter; a negative one has the right type.
  if (itemCount !== undefined && !Number.isInteger(itemCount))
    flaws.push(['a whole number as item_count', shown(itemCount)])
  if (linksKind !== 'an object') flaws.push(['an object as _links', `it is ${linksKind}`])
  if (embeddedKind !== 'an object') flaws.push(['an object as _embedded', `it is ${embeddedKind}`])
  return flaws
}

const gzipDifference: DifferenceOf = (plain, gzip) => {
  const { document, byteLength, beginning } = gzip
  if (plain.digest === gzip.digest) return undefined
  if (gzip.status !== 200) return { expected: '200 OK, as without gzip', came: statusLine(gzip) }
  if (plain.document && document && saysTheSame(plain.document, document)) return undefined
  const came =
    document === undefined ? `no JSON: ${beginning}` : `another document, ${byteLength} bytes: ${document.shown}`
  return { expected: `the document of the plain answer, ${plain.byteLength} bytes`, came }
}
