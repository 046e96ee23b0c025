/** C10 and D13: GET without a body, HEAD and OPTIONS. */

import { type HttpResponse, headerLine, statusLine } from '../http/response.ts'
import type { Rule, RuleCheck } from '../rule.ts'

export const C10: Rule = {
  id: 'C10',
  title: 'A GET needs no body.',
  why: 'A GET has no body, and many clients cannot send one.',
  hurts: 'every client: it cannot read anything.',
  right: 'GET /events → 200',
  wrong: 'GET /events → 411 Length Required, or 415 Unsupported Media Type',
  scope: 'answer',
  async probe(check) {
    const { bare } = check.layout
    if ([411, 415].includes(bare.status)) check.broken(bare, 'an answer to a GET without a body', statusLine(bare))
  },
}

export const D13: Rule = {
  id: 'D13',
  title: 'HEAD answers like GET without the body, Content-Length included; OPTIONS lists the methods in Allow.',
  why: 'With HEAD a client learns how large a page is and whether it changed, without reading it.',
  hurts: 'a client that asks before it reads, and link checkers, which mostly use HEAD.',
  right:
    'HEAD /events → 200 with the Content-Type, Content-Length and ETag of GET; OPTIONS /events → Allow: GET, HEAD, OPTIONS',
  wrong: 'HEAD /events → 404, or Content-Length: 0',
  scope: '200',
  async probe(check) {
    const { collection, layout } = check
    const [head, options] = await Promise.all([collection.bare({}, 'HEAD'), collection.bare({}, 'OPTIONS')])
    if (head.status === layout.bare.status) compareHeaders(check, layout.bare, head)
    else check.broken(head, `${statusLine(layout.bare)}, as GET`, statusLine(head))
    const methods = (options.headers.get('allow') ?? '').split(',').map((method) => method.trim().toUpperCase())
    if (options.status < 200 || options.status > 299) check.broken(options, '204 with Allow', statusLine(options))
    else if (!['GET', 'HEAD', 'OPTIONS'].every((method) => methods.includes(method)))
      check.broken(options, 'Allow: GET, HEAD, OPTIONS', headerLine(options, 'Allow'))
  },
}

function compareHeaders(check: RuleCheck, get: HttpResponse, head: HttpResponse): void {
  for (const name of ['Content-Type', 'ETag'])
    if (get.headers.get(name) !== head.headers.get(name))
      check.differs(head, `${headerLine(get, name)}, as GET`, headerLine(head, name))
  // A body that came compressed although nobody asked for it has another length.
  if (get.headers.get('content-encoding') !== null) return
  const length = head.headers.get('content-length')
  // If neither has a length, the body of the GET came in chunks.
  if (length === null ? get.headers.get('content-length') !== null : Number(length) !== get.byteLength)
    check.differs(
      head,
      `Content-Length: ${get.byteLength}, the length of the body of GET`,
      headerLine(head, 'Content-Length'),
    )
}
