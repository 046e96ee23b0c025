/** What a column of a page holds, at a glance: a histogram, or the most frequent values. */

import type { Column } from './columns.ts'
import { type Child, element, graphic } from './element.ts'
import { count, counted } from './figures.ts'
import { brief, type Value } from './value.ts'

const STEPS = 12
const MAX_VALUES = 3

export function summary({ kind, values }: Column): Child {
  const given = values.filter((value) => value !== undefined && value.kind !== 'null') as Value[]
  if (kind === 'object' || kind === 'array' || given.length === 0) return ''
  if (kind === 'number' || kind === 'date') return histogram(given)
  return mostFrequent(given)
}

/** Its outline has a baseline and is labelled at both ends, so that it needs no colour. */
function histogram(values: readonly Value[]): Child {
  const points = values
    .map(({ kind, text }) => ({ text: kind === 'date' ? text.slice(0, 10) : text, at: numberOf(kind, text) }))
    .filter(({ at }) => Number.isFinite(at))
    .sort((a, b) => a.at - b.at)
  const [least, most] = [points[0], points.at(-1)]
  if (least === undefined || most === undefined) return ''
  const steps = new Array<number>(STEPS).fill(0)
  // Halves, because the difference of two large numbers may be none.
  const width = most.at / 2 - least.at / 2 || 1
  for (const { at } of points) {
    const step = Math.min(STEPS - 1, Math.floor(((at / 2 - least.at / 2) / width) * STEPS))
    steps[step] = (steps[step] ?? 0) + 1
  }
  const label = `Histogram of ${counted(points.length, 'value')} from ${brief(least.text, 24)} to ${brief(most.text, 24)}, in ${STEPS} steps: ${steps.join(', ')}`
  const tallest = Math.max(...steps)
  const bars = steps.map((number, step) => `M${step * 8} 24v${(-22 * number) / tallest}h7V24`).join('')
  const picture = graphic('svg', {
    viewBox: '0 0 95 24',
    role: 'img',
    'aria-label': label,
    preserveAspectRatio: 'none',
  })
  picture.append(graphic('title', {}, label), graphic('path', { d: `M0 23.5h95v.5H0${bars}` }))
  const ends = [least, most].map(({ text }) => element('span', {}, brief(text, 12)))
  return element('div', { class: 'histogram' }, picture, element('div', { 'aria-hidden': 'true' }, ...ends))
}

function numberOf(kind: string, text: string): number {
  return kind === 'date' ? Date.parse(text) : Number(text)
}

function mostFrequent(values: readonly Value[]): Child {
  const times = new Map<string, number>()
  for (const { text } of values) times.set(text, (times.get(text) ?? 0) + 1)
  const different = times.size
  const ranking = [...times].sort(([, a], [, b]) => b - a)
  if (different > 1 && ranking[0]?.[1] === 1) return counted(different, 'different value')
  const rows = ranking
    .slice(0, MAX_VALUES)
    .map(([text, number]) =>
      element('li', {}, element('span', {}, brief(text, 40)), count(number), bar(number / values.length)),
    )
  const others = different - rows.length
  if (others > 0) rows.push(element('li', { class: 'quiet' }, `${counted(others, 'other')}`))
  return element('ol', { class: 'frequent', 'aria-label': 'Most frequent values' }, ...rows)
}

/** A share of the whole as a bar in a frame; the figure itself stands beside it. */
export function bar(share: number): SVGElement {
  const picture = graphic('svg', {
    class: 'bar',
    viewBox: '0 0 100 8',
    preserveAspectRatio: 'none',
    'aria-hidden': 'true',
  })
  picture.append(graphic('rect', { width: Math.max(share * 100, share && 1), height: 8 }))
  return picture
}
