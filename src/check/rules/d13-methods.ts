/** D13: methods. */

import { shorten } from '../../contract/message-text.ts'
import { type Answer, statusLine } from '../answer.ts'
import type { Rule } from '../rule.ts'
import type { Trial } from '../trial.ts'

export const D13: Rule = {
  id: 'D13',
  title: 'HEAD answers as GET without the body, Content-Length included; OPTIONS names the methods in Allow.',
  why: 'HEAD asks how large a page is and whether it changed, without reading it.',
  hurts: 'a client that asks before it reads, and link checkers, which mostly use HEAD.',
  right:
    'HEAD /events → 200 with the Content-Type, Content-Length and ETag of GET; OPTIONS /events → Allow: GET, HEAD, OPTIONS',
  wrong: 'HEAD /events → 404, or Content-Length: 0',
  scope: '200',
  async probe(trial) {
    const { subject, layout } = trial
    const [head, options] = await Promise.all([subject.bare({}, 'HEAD'), subject.bare({}, 'OPTIONS')])
    if (head.status === layout.bare.status) compareHeaders(trial, layout.bare, head)
    else trial.broken(head, `${statusLine(layout.bare)}, as GET`, statusLine(head))
    judgeOptions(trial, options)
  },
}

function compareHeaders(trial: Trial, get: Answer, head: Answer): void {
  for (const name of ['Content-Type', 'ETag']) {
    const [before, after] = [get.headers.get(name), head.headers.get(name)]
    if (before !== after)
      trial.differs(head, `${name}: ${before ?? 'none'}, as GET`, `${name}: ${shorten(after ?? 'none')}`)
  }
  const length = head.headers.get('content-length')
  const isLengthGiven = get.headers.get('content-length') !== null
  // Of a body that came packed although nobody asked for it, the length is another one.
  if (get.headers.get('content-encoding') !== null) return
  // Without a length in either, the body of the GET came in chunks.
  if (length === null ? isLengthGiven : Number(length) !== get.byteLength)
    trial.differs(
      head,
      `Content-Length: ${get.byteLength}, the length of the body of GET`,
      length === null ? 'no Content-Length' : `Content-Length: ${shorten(length)}`,
    )
}

function judgeOptions(trial: Trial, options: Answer): void {
  const allow = options.headers.get('allow')
  const methods = (allow ?? '').split(',').map((method) => method.trim().toUpperCase())
  if (options.status < 200 || options.status > 299) trial.broken(options, '204 with Allow', statusLine(options))
  else if (!['GET', 'HEAD', 'OPTIONS'].every((method) => methods.includes(method)))
    trial.broken(options, 'Allow: GET, HEAD, OPTIONS', allow === null ? 'no Allow' : `Allow: ${shorten(allow)}`)
}
