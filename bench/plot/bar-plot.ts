/** Bars that lie, in groups, each with its name before it and its value behind it. */

import { type Scale, scaleOf } from './scale.ts'
import { element, svgOf, text } from './svg.ts'

export interface Bar {
  readonly name: string
  readonly isOurs: boolean
  readonly value: number
}

export interface BarGroup {
  /** Empty where there is but one. */
  readonly title: string
  readonly bars: readonly Bar[]
}

export interface BarPlot {
  readonly title: string
  /** At least one bar. */
  readonly groups: readonly BarGroup[]
  readonly formatValue: (value: number) => string
  readonly footer: string
}

const WIDTH = 760
const LEFT = 260
const RIGHT = 590
const BAR_HEIGHT = 20
const BAR_STEP = 28
const GROUP_GAP = 14
const TOP = 46

export function barPlot(plot: BarPlot): string {
  const { title, groups, formatValue, footer } = plot
  const scale = scaleOf(
    'linear',
    groups.flatMap(({ bars }) => bars.map(({ value }) => value)),
  )
  const elements = [text(title, { x: 16, y: 26, class: 'title' })]
  let y = TOP
  for (const group of groups) {
    if (group.title !== '') {
      elements.push(text(group.title, { x: 16, y: y + 14, class: 'faint' }))
      y += BAR_STEP
    }
    for (const bar of group.bars) {
      elements.push(...drawn(bar, y, scale, formatValue))
      y += BAR_STEP
    }
    y += GROUP_GAP
  }
  elements.push(
    element('line', { x1: LEFT, x2: LEFT, y1: TOP - 4, y2: y - GROUP_GAP - 4, class: 'axis' }),
    text(footer, { x: 16, y: y + 12, class: 'small' }),
  )
  return svgOf({ width: WIDTH, height: y + 26, title, description: describe(plot), elements })
}

function drawn({ name, isOurs, value }: Bar, y: number, scale: Scale, format: (value: number) => string): string[] {
  const width = Math.max(1, scale.at(value) * (RIGHT - LEFT))
  return [
    text(name, { x: LEFT - 10, y: y + 15, 'text-anchor': 'end', ...(isOurs && { class: 'strong' }) }),
    element('rect', { x: LEFT, y, width, height: BAR_HEIGHT, class: isOurs ? 'bar ours' : 'bar' }),
    text(format(value), { x: LEFT + width + 8, y: y + 15 }),
  ]
}

function describe({ groups, formatValue }: BarPlot): string {
  return groups
    .map(({ title, bars }) => {
      const values = bars.map(({ name, value }) => `${name} ${formatValue(value)}`).join(', ')
      return title === '' ? `${values}.` : `${title}: ${values}.`
    })
    .join(' ')
}
