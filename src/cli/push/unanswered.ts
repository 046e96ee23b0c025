/** What becomes of a batch that was sent and never answered, where it cannot simply be sent again. */

import { Failure } from '../failure.ts'
import { spanOf } from './batch.ts'
import type { PushState } from './state.ts'

/** What the user found out, about the batch that begins with this item, counted from 1. */
export interface UnansweredChoice {
  readonly what: 'again' | 'skip'
  readonly item: number
}

export const UNANSWERED_RULE = 'again:N or skip:N, as the message says that asks for it'

/** Naming the item keeps a command that is given once more from deciding about another batch. */
export function parseUnanswered(text: string): UnansweredChoice | undefined {
  const [, what, item] = /^(again|skip):([0-9]{1,15})$/.exec(text) ?? []
  return what === 'again' || what === 'skip' ? { what, item: Number(item) } : undefined
}

/** Answers how many items are not to be sent: those acknowledged, and an unanswered batch that the user found there. */
export function settleUnanswered(
  state: PushState,
  choice: UnansweredChoice | undefined,
  label: string,
  url: string,
): number {
  const { acknowledged, unanswered } = state.noted
  // One about items before these was followed when it was given first.
  if (choice !== undefined && choice.item > acknowledged) {
    if (unanswered === undefined || choice.item !== acknowledged + 1)
      throw new Failure(2, `No batch from item ${choice.item} on is unanswered. Leave --unanswered out.`)
    if (choice.what === 'skip') return acknowledged + unanswered.items
    if (!isSafe(state)) state.sendAnew()
  } else if (!isSafe(state)) throw new Failure(3, question(state, label, url))
  return acknowledged
}

function isSafe(state: PushState): boolean {
  return state.isRemembered(Date.now()) && state.isSameToken
}

function question({ noted, isSameToken }: PushState, label: string, url: string): string {
  const { acknowledged, unanswered = { items: 0, since: 0 } } = noted
  const first = acknowledged + 1
  const at = new Date(unanswered.since).toISOString().slice(0, 16).replace('T', ' ')
  const reason = isSameToken
    ? 'a server remembers a request for 24 hours'
    : 'it was sent with another token, and only by that one a server knows it again. With that token it is safe'
  return [
    `No answer came to ${spanOf('item', first, acknowledged + unanswered.items)} of ${label}, sent at ${at} UTC.`,
    `Sending this batch again could double it: ${reason}.`,
    `Look at the last items of ${url}. If they are these, add --unanswered skip:${first}; if not, --unanswered again:${first},`,
    'which is safe anyway where the collection has a key.',
  ].join(' ')
}
