/** Whether two answers are the same bytes. */

import { type Answer, statusLine } from './answer.ts'
import type { DifferenceOf, Trial } from './trial.ts'

/** An answer that should be byte for byte another one, which `name` describes. */
export async function compareBytes(trial: Trial, reference: Answer, answer: Answer, name: string): Promise<void> {
  const differenceOf: DifferenceOf = (before, after) =>
    before.digest === after.digest
      ? undefined
      : {
          expected: `the ${before.byteLength} bytes of ${name}`,
          came: `${after.byteLength} other bytes: ${after.beginning}`,
        }
  if (answer.status !== 200) trial.broken(answer, `200 OK, as ${name}`, statusLine(answer))
  else await trial.compare(reference, answer, differenceOf)
}
