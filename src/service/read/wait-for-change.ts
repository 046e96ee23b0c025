/** `Prefer: wait` (RFC 7240): a client that has what is there now gets what comes next, as soon as it is there. */

import type { Head } from '../../store/store.ts'
import { CHALLENGE, findCaller } from '../access.ts'
import type { HandlerContext } from '../handler-context.ts'
import { MAX_WAIT_SECONDS } from '../limits.ts'
import { Refusal } from '../problem-reply.ts'
import { callerName } from '../rate-limit.ts'
import { type Reply, withHeaders } from '../reply.ts'

/**
 * `unchanged` is the answer for now, to somebody who has seen the collection as `head` says. Where the request prefers to wait,
 * and can, `answer` gives it when something has changed or the time is over.
 */
export function orWait(
  context: HandlerContext,
  head: Head,
  unchanged: Reply,
  answer: (context: HandlerContext) => Promise<Reply>,
): Reply | Promise<Reply> {
  const { request, changes, caller, facts } = context
  const seconds = waitSeconds(request.headers.get('prefer'))
  if (seconds === 0) return unchanged
  const changed = changes.wait(head, seconds * 1_000, request.signal, callerName(caller, facts.remoteAddress))
  return changed === undefined ? unchanged : answerAfter(changed, seconds, context, answer)
}

async function answerAfter(
  changed: Promise<void>,
  seconds: number,
  context: HandlerContext,
  answer: (context: HandlerContext) => Promise<Reply>,
): Promise<Reply> {
  const { request, store, facts } = context
  const startedAt = performance.now()
  await changed
  facts.waitedMs = performance.now() - startedAt
  // A token that was revoked meanwhile must not get what came after that.
  const caller = await findCaller(request, store)
  if (caller === undefined) throw new Refusal('unauthorized', 'The token is not valid.', CHALLENGE)
  return withHeaders(await answer({ ...context, caller }), { 'Preference-Applied': `wait=${seconds}` })
}

/** One preference of the list: what comes before the next comma that is not in a quoted string. */
const PREFERENCE = /(?:"(?:\\.|[^"\\])*"?|[^",])+/g
/** The preference `wait`, with its value if that is digits, in quotes or not. Its parameters mean nothing. */
const WAIT = /^\s*wait\s*(?:;|$|=(?:\s*("?)(?<digits>\d+)\1\s*(?:;|$))?)/i

/** The first `wait` in the header (RFC 7240); 0 where there is none, or none that is valid. */
export function waitSeconds(prefer: string | null): number {
  for (const [preference] of prefer?.matchAll(PREFERENCE) ?? []) {
    const wait = WAIT.exec(preference)
    if (wait !== null) return Math.min(Number(wait.groups?.['digits'] ?? 0), MAX_WAIT_SECONDS)
  }
  return 0
}
