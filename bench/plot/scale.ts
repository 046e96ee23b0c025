/** From values to places on an axis, and where the axis is marked. */

export interface Scale {
  readonly ticks: readonly number[]
  /** From 0 at the beginning of the axis to 1 at its end. */
  at(value: number): number
}

export type ScaleKind = 'linear' | 'log'

/** Holds all values. A linear scale begins at 0; a logarithmic one begins and ends with a power of ten. */
export function scaleOf(kind: ScaleKind, values: readonly number[]): Scale {
  return kind === 'linear' ? linearScale(Math.max(...values)) : logScale(Math.min(...values), Math.max(...values))
}

const MAX_STEPS = 5

function linearScale(largest: number): Scale {
  const step = roundStep(largest / MAX_STEPS)
  const steps = Math.ceil(largest / step)
  const ticks = Array.from({ length: steps + 1 }, (_, index) => index * step)
  return { ticks, at: (value) => value / (steps * step) }
}

/** The next larger of 1, 2 and 5 times a power of ten; 2.5 too, for quarters. */
function roundStep(atLeast: number): number {
  const power = 10 ** Math.floor(Math.log10(atLeast))
  return ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= atLeast) ?? 10) * power
}

function logScale(smallest: number, largest: number): Scale {
  const [first, last] = [Math.floor(Math.log10(smallest)), Math.ceil(Math.log10(largest))]
  const ticks = Array.from({ length: last - first + 1 }, (_, index) => 10 ** (first + index))
  return { ticks, at: (value) => (Math.log10(value) - first) / (last - first) }
}
