/** What one connection does: the messages that go over it, and how. */

import { anyDelivery, type Delivery } from './delivery.ts'
import type { Dice } from './dice.ts'
import type { Kind } from './grammar/kinds.ts'
import { ordinaryRead, ordinaryWrite, type Place } from './grammar/requests.ts'
import type { Message } from './message.ts'

export interface Plan {
  readonly messages: readonly Message[]
  readonly delivery: Delivery
}

/** The messages of that kind, often alone, else with ordinary ones before and after. */
export function planOf(dice: Dice, kind: Kind, place: Place): Plan {
  const { make, isInTurns = false } = kind
  const others = isInTurns || dice.chance(60) ? 0 : dice.chance(90) ? dice.between(1, 5) : dice.between(5, 49)
  const before = dice.below(others + 1)
  const messages = [
    ...ordinary(dice, place, before),
    ...[make(dice, place)].flat(),
    ...ordinary(dice, place, others - before),
  ]
  const length = messages.reduce((sum, { bytes }) => sum + bytes.length, 0)
  return { messages, delivery: anyDelivery(dice, length, isInTurns) }
}

function ordinary(dice: Dice, place: Place, count: number): Message[] {
  return dice.times(count, () => (dice.chance(75) ? ordinaryRead : ordinaryWrite)(dice, place))
}
