/** Lines over two axes, each named at its end. */

import { type ScaleKind, scaleOf } from './scale.ts'
import { element, svgOf, text } from './svg.ts'

export interface Axis {
  readonly label: string
  readonly scale: ScaleKind
  readonly format: (value: number) => string
}

export interface Line {
  readonly name: string
  readonly isOurs: boolean
  readonly points: readonly (readonly [x: number, y: number])[]
}

export interface LinePlot {
  readonly title: string
  readonly x: Axis
  readonly y: Axis
  /** At least one, each with at least one point. */
  readonly lines: readonly Line[]
  /** How a value of a line is written beside it. */
  readonly formatValue: (value: number) => string
  readonly footer: string
}

const SIZE = { width: 760, height: 380 }
const AREA = { left: 74, right: 560, top: 56, bottom: 292 }
const LABEL_HEIGHT = 20
const BELOW = { ticks: 20, label: 42, footer: 74 }

export function linePlot(plot: LinePlot): string {
  const { title, lines, footer } = plot
  const description = lines.map((line) => describe(line, plot)).join(' ')
  const elements = [
    text(title, { x: 16, y: 26, class: 'title' }),
    ...axes(plot),
    ...lines.flatMap((line) => drawn(line, plot)),
    text(footer, { x: 16, y: AREA.bottom + BELOW.footer, class: 'small' }),
  ]
  return svgOf({ ...SIZE, title, description, elements })
}

function placesOf({ x, y, lines }: LinePlot) {
  const points = lines.flatMap((line) => line.points)
  const [across, up] = [0, 1].map((at) => points.map((point) => point[at] as number)) as [number[], number[]]
  const [xScale, yScale] = [scaleOf(x.scale, across), scaleOf(y.scale, up)]
  return {
    xTicks: xScale.ticks,
    yTicks: yScale.ticks,
    xAt: (value: number) => AREA.left + xScale.at(value) * (AREA.right - AREA.left),
    yAt: (value: number) => AREA.bottom - yScale.at(value) * (AREA.bottom - AREA.top),
  }
}

function axes(plot: LinePlot): string[] {
  const { x, y } = plot
  const { xTicks, yTicks, xAt, yAt } = placesOf(plot)
  const { left, right, top, bottom } = AREA
  return [
    ...yTicks.flatMap((tick) => [
      element('line', {
        x1: left,
        x2: right,
        y1: yAt(tick),
        y2: yAt(tick),
        class: tick === yTicks[0] ? 'axis' : 'grid',
      }),
      text(y.format(tick), { x: left - 8, y: yAt(tick) + 4, 'text-anchor': 'end', class: 'faint' }),
    ]),
    ...xTicks.flatMap((tick) => [
      element('line', { x1: xAt(tick), x2: xAt(tick), y1: bottom, y2: bottom + 5, class: 'axis' }),
      text(x.format(tick), { x: xAt(tick), y: bottom + BELOW.ticks, 'text-anchor': 'middle', class: 'faint' }),
    ]),
    text(y.label, { x: left, y: top - 12, 'text-anchor': 'start', class: 'faint' }),
    text(x.label, { x: (left + right) / 2, y: bottom + BELOW.label, 'text-anchor': 'middle', class: 'faint' }),
  ]
}

/** The value where a line begins stands where the line does not go; name and value of its end stand behind it. */
function drawn({ name, isOurs, points }: Line, plot: LinePlot): string[] {
  const { xAt, yAt } = placesOf(plot)
  const ours = isOurs ? ' ours' : ''
  const places = points.map(([x, y]) => [xAt(x), yAt(y)] as const)
  const path = places.map((place) => place.map((number) => number.toFixed(1)).join(',')).join(' ')
  const [[firstX, firstY], [lastX, lastY]] = [places[0] ?? [0, 0], places.at(-1) ?? [0, 0]]
  const [firstValue, lastValue] = [points[0]?.[1] ?? 0, points.at(-1)?.[1] ?? 0]
  const beside = lastY < firstY - LABEL_HEIGHT ? LABEL_HEIGHT : -10
  return [
    element('polyline', { points: path, class: `line${ours}` }),
    ...places.map(([x, y]) => element('circle', { cx: x, cy: y, r: isOurs ? 4 : 3, class: `dot${ours}` })),
    ...(points.length > 1 ? [text(plot.formatValue(firstValue), { x: firstX + 8, y: firstY + beside })] : []),
    text(name, { x: lastX + 12, y: lastY - 12, class: 'strong' }),
    text(plot.formatValue(lastValue), { x: lastX + 12, y: lastY + 5 }),
  ]
}

function describe({ name, points }: Line, { x, formatValue }: LinePlot): string {
  return `${name}: ${points.map(([at, value]) => `${formatValue(value)} at ${x.format(at)}`).join(', ')}.`
}
