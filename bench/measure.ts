/** From many measurements to one figure, and two sides measured in turn. */

export function median(values: readonly number[]): number {
  return percentile(values, 50)
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** The smallest value that at least `percent` of all values do not pass. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const value = sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)]
  if (value === undefined) throw new RangeError('There is no percentile of no values: measure at least once.')
  return value
}

/** Runs every side once a round: whatever slows the machine down for a while then hits all of them. */
export async function inTurn<Side>(
  rounds: number,
  sides: readonly Side[],
  run: (side: Side, round: number) => Promise<void>,
): Promise<void> {
  for (let round = 0; round < rounds; round++) for (const side of sides) await run(side, round)
}

/** How long `work` takes. */
export async function durationMs(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}
