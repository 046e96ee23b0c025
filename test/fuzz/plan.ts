/** What one connection does: the messages that go over it, and how. */

import type { Dice } from './dice.ts'
import type { Kind } from './grammar/kinds.ts'
import { ordinaryRead, ordinaryWrite, type Place } from './grammar/requests.ts'
import type { Message } from './message.ts'

export interface Plan {
  readonly messages: readonly Message[]
  readonly delivery: Delivery
}

/** The messages of that kind, often alone, else with ordinary ones before and after. */
export function planOf(dice: Dice, { make, isInTurns = false }: Kind, place: Place): Plan {
  const others = isInTurns || dice.chance(60) ? 0 : dice.chance(90) ? dice.between(1, 5) : dice.between(5, 49)
  const before = dice.below(others + 1)
  const ordinary = () => (dice.chance(75) ? ordinaryRead : ordinaryWrite)(dice, place)
  const messages = [
    ...dice.times(before, ordinary),
    ...[make(dice, place)].flat(),
    ...dice.times(others - before, ordinary),
  ]
  const length = messages.reduce((sum, { bytes }) => sum + bytes.length, 0)
  return { messages, delivery: anyDelivery(dice, length, isInTurns) }
}

export interface Delivery {
  /** Wait for the answer to each message before sending the next. */
  readonly isInTurns: boolean
  /** Send in pieces of this size, with a pause after each. */
  readonly pieceBytes: number
  readonly pauseMs: number
  /** Send no more than this. */
  readonly stopAfterBytes: number
  /** When everything is sent: close after the answers, half-close at once and read the answers, or reset the connection. */
  readonly ending: 'close' | 'half-close' | 'reset'
  /** Read nothing before this. */
  readonly readAfterMs: number
  /** Pause between two reads. */
  readonly readPauseMs: number
  /** Reset the connection when so much of the answers has arrived. */
  readonly resetAfterBytes: number
  /** Reset the connection after this time. */
  readonly resetAfterMs: number
}

const NEVER = Number.POSITIVE_INFINITY

/** Send everything at once, read every answer, and close. */
export const WHOLE: Delivery = {
  isInTurns: false,
  pieceBytes: NEVER,
  pauseMs: 0,
  stopAfterBytes: NEVER,
  ending: 'close',
  readAfterMs: 0,
  readPauseMs: 0,
  resetAfterBytes: NEVER,
  resetAfterMs: NEVER,
}

/** For a connection on which `length` bytes are to be sent. */
function anyDelivery(dice: Dice, length: number, isInTurns: boolean): Delivery {
  if (isInTurns) return { ...WHOLE, isInTurns, pieceBytes: dice.of([NEVER, dice.between(1, 100)]) }
  // Anywhere, or near the end, where the last request becomes complete.
  const stopAfterBytes = dice.chance(50) ? dice.below(length + 1) : Math.max(0, length - dice.below(5))
  const inPieces = (count: number) => ({ pieceBytes: Math.max(1, Math.ceil(length / count)) })
  const unusual = dice.of<Partial<Delivery>>([
    {},
    {},
    // Byte by byte, unless that would take too long.
    inPieces(1_000),
    { ...inPieces(dice.between(2, 5)), pauseMs: dice.between(1, 50) },
    { stopAfterBytes, ending: 'half-close' },
    { stopAfterBytes, ending: 'reset' },
    { stopAfterBytes, ending: 'reset', pauseMs: dice.between(1, 20) },
    { ending: 'reset', pauseMs: dice.between(0, 20) },
    { ending: 'half-close' },
    { resetAfterBytes: dice.below(dice.of([20, 300, 20_000])) },
    { readAfterMs: dice.between(50, 1_000) },
    { readPauseMs: dice.between(1, 20) },
    { readAfterMs: NEVER, resetAfterMs: dice.between(0, 500) },
    { isInTurns: true },
  ])
  return { ...WHOLE, ...unusual }
}

/** What is unusual about it, for people. */
export function describeDelivery(delivery: Delivery): string {
  const usual: Readonly<Record<string, unknown>> = { ...WHOLE }
  const unusual = Object.entries(delivery).filter(([name, value]) => value !== usual[name])
  return unusual.map(([name, value]) => `${name}: ${value}`).join(', ') || 'whole'
}
