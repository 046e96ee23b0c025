/** What keeps a collection from being judged at all. */

import { shorten } from '../contract/message-text.ts'
import { type Answer, statusLine } from './answer.ts'

/** Why nothing can be judged, from the answer to the bare URL; undefined where the rules can be tried. */
export function obstacleOf(bare: Answer, hasToken: boolean): string | undefined {
  const { status, document, beginning, fault, headers } = bare
  if (fault !== undefined) return fault
  if (status === 401 || status === 403 || status === 407)
    return `${statusLine(bare)}: ${hasToken ? 'the token is refused' : 'the collection asks for a token (--token-file)'}`
  if (UNAVAILABLE.includes(status)) return `${statusLine(bare)}: there is no collection to judge at this URL`
  if (document !== undefined || status !== 200) return undefined
  // What begins like an object is broken JSON, and C1 says so.
  if (/^(\(not UTF-8\) |\\ufeff)?\s*\{/.test(beginning)) return undefined
  const type = shorten(headers.get('content-type') ?? 'without a Content-Type')
  return `the answer is not JSON (${type}): ${beginning || 'it is empty'}`
}

const UNAVAILABLE = [404, 410, 429, 502, 503, 504]
