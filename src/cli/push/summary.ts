/** What a push that is done says. */

import { formatCount, formatDuration, formatItems } from '../figures.ts'
import type { PushState } from './state.ts'

export interface PushResult {
  /** Items at the beginning of the file that were not sent, because they were before. */
  readonly sentBefore: number
  /** Of the collection, now; undefined when nothing had to be sent. */
  readonly itemCount: number | undefined
  readonly durationMs: number
}

export function pushSummary(name: string, label: string, state: PushState, result: PushResult): string {
  const { acknowledged, noteLabel, noted } = state
  const { sentBefore, itemCount, durationMs } = result
  if (acknowledged === 0) return `${name}: 0 items appended; ${label} has none.`
  if (itemCount === undefined) {
    const at = new Date(noted.at).toISOString().slice(0, 16).replace('T', ' ')
    const all = `all ${formatItems(acknowledged)} of ${label} are already there`
    return `${name}: ${all} (acknowledged by ${at} UTC; delete ${noteLabel} to send them again).`
  }
  const sent = acknowledged - sentBefore
  const perSecond = formatCount((sent / durationMs) * 1000)
  // Below a second the rate says more about the start of the program than about the push.
  const rate = durationMs < 1000 ? '' : ` (${perSecond} items/s)`
  const before = sentBefore === 0 ? '' : `, behind ${formatCount(sentBefore)} sent before`
  const done = `${formatItems(sent)} appended in ${formatDuration(durationMs)}${rate}${before}`
  const note = noteLabel === '' ? '' : ` ${noteLabel} notes that, so that nothing is sent twice.`
  return `${name}: ${done}; the collection now has ${formatItems(itemCount)}.${note}`
}
