/** Pushes the items of one source: reads again what was sent before, and sends what is behind it, in order. */

import { type InputFormat, readItems } from '../../items/read-items.ts'
import { Failure } from '../failure.ts'
import { formatItems } from '../figures.ts'
import type { Progress } from '../progress.ts'
import { ReadAhead } from '../read-ahead.ts'
import type { Source } from '../source.ts'
import { type Batch, type BatchLimit, cutBatches } from './batch.ts'
import { pack, plain } from './pack.ts'
import type { PushSender } from './sender.ts'
import type { PushState } from './state.ts'
import { PushStopped } from './stopped.ts'

/** Of a request, about. */
const BATCH_BYTES = 1024 * 1024

/** What is read ahead while earlier items are being sent: keeps both sides busy, and memory flat. */
const BYTES_IN_FLIGHT = 4 * BATCH_BYTES

export interface PushSourceOptions {
  readonly format: InputFormat
  readonly itemBytes: number
  readonly batchItems: number
  readonly isPacked: boolean
  /** Items from the beginning that are there already. */
  readonly sentBefore: number
  readonly progress: Progress
}

/** Answers how many items the collection has now; undefined when nothing had to be sent. */
export async function pushSource(
  source: Source,
  state: PushState,
  sender: PushSender,
  options: PushSourceOptions,
): Promise<number | undefined> {
  const { format, itemBytes, batchItems, sentBefore, progress } = options
  const ahead = new ReadAhead(BYTES_IN_FLIGHT)
  let readItemCount = 0
  // What was read and not sent yet counts for nothing.
  const show = () => progress.update(source.readBytes * (state.acknowledged / readItemCount), state.acknowledged)
  let latest: Promise<number | undefined> = Promise.resolve(undefined)
  try {
    for await (const batch of cutBatches(readItems(source, { format, itemBytes }), limitOf(state, batchItems))) {
      readItemCount += batch.count
      if (batch.first < sentBefore) {
        passAgain(batch, state, source.label)
        show()
      } else {
        latest = sendAfter(latest, batch, options.isPacked, state, sender)
        await ahead.add(latest.then(show), batch.body.length)
      }
    }
  } finally {
    // A failure here is of earlier items, and is told instead of a later one.
    await ahead.end()
  }
  if (state.acknowledged < state.noted.acknowledged) throw changed(state, source.label, 'is shorter now')
  return latest
}

/** Every batch ends where it ended when it was sent first: the end of what was acknowledged, and of what was not answered. */
function limitOf({ noted }: PushState, batchItems: number): (first: number) => BatchLimit {
  return (first) => {
    const items = Math.min(batchItems, noted.acknowledged - first)
    if (items > 0) return { items, bytes: BATCH_BYTES }
    if (items === 0 && noted.unanswered !== undefined)
      return { items: noted.unanswered.items, bytes: Number.POSITIVE_INFINITY }
    return { items: batchItems, bytes: BATCH_BYTES }
  }
}

function passAgain(batch: Batch, state: PushState, label: string): void {
  state.pass(batch)
  const { acknowledged, sha256 } = state.noted
  if (state.acknowledged === acknowledged && state.sha256 !== sha256) throw changed(state, label, 'differs now')
}

/** It is packed at once, and sent when what is before it was acknowledged. */
async function sendAfter(
  earlier: Promise<unknown>,
  batch: Batch,
  isPacked: boolean,
  state: PushState,
  sender: PushSender,
): Promise<number> {
  const packed = isPacked ? await pack(batch.body) : plain(batch.body)
  await earlier
  try {
    state.sending(batch)
    const itemCount = await sender.send(batch, packed, state)
    state.pass(batch)
    return itemCount
  } catch (error) {
    if (error instanceof PushStopped && !error.isOpen) state.unanswered = undefined
    throw error
  }
}

function changed({ noted, noteLabel }: PushState, label: string, how: string): Failure {
  const before = `The first ${formatItems(noted.acknowledged)} of ${label} were sent before, and this part of the file ${how}`
  const advice = `Push new items from a file of their own; or delete ${noteLabel} to send all of this one, those that were sent before too`
  return new Failure(1, `${before}. Nothing was sent. ${advice}.`)
}
