/**
 * The spec report of Node, and a last line that says what was not tested and why. In CI, any skip that is not expected fails the
 * run.
 */

import { Readable } from 'node:stream'
import { spec, type TestEvent } from 'node:test/reporters'

/** Skips that CI accepts: Citus needs a cluster, Debian packages MariaDB instead of MySQL, and no process outlives its memory. */
const EXPECTED_REASONS = /\bCitus\b|^MySQL is not in Debian|^A store in memory /

export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const skipped = new Map<string, number>()
  async function* observed(): AsyncGenerator<TestEvent> {
    for await (const event of source) {
      if (event.type === 'test:pass' && event.data.skip !== undefined && event.data.skip !== false) {
        const reason = event.data.skip === true ? `no reason given for "${event.data.name}"` : String(event.data.skip)
        skipped.set(reason, (skipped.get(reason) ?? 0) + 1)
      }
      yield event
    }
  }
  yield* Readable.from(observed()).compose(new spec())
  yield `${summaryOf(skipped)}\n`
  const unexpected = [...skipped.keys()].filter((reason) => !EXPECTED_REASONS.test(reason))
  if (process.env['CI'] !== 'true' || unexpected.length === 0) return
  yield `CI must test this too: ${unexpected.join('; ')}\n`
  process.exitCode = 1
}

function summaryOf(skipped: ReadonlyMap<string, number>): string {
  if (skipped.size === 0) return 'Not tested: nothing was skipped.'
  const reasons = [...skipped].map(([reason, count]) => `${reason} (${count} ${count === 1 ? 'test' : 'tests'})`)
  return `Not tested: ${reasons.join('; ')}.`
}
