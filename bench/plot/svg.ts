/** SVG as text: elements, and a picture that is readable in light and dark, on any background, without a script. */

export type Attributes = Readonly<Record<string, string | number>>

/** Numbers are rounded: a tenth of a pixel is all that one sees. */
export function element(name: string, attributes: Attributes, ...content: readonly string[]): string {
  const words = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeXml(shortened(value))}"`)
  return content.length === 0
    ? `<${name}${words.join('')}/>`
    : `<${name}${words.join('')}>${content.join('')}</${name}>`
}

export function text(content: string, attributes: Attributes): string {
  return element('text', attributes, escapeXml(content))
}

export interface Picture {
  readonly width: number
  readonly height: number
  /** What a reader who does not see the picture is told. */
  readonly title: string
  readonly description: string
  readonly elements: readonly string[]
}

export function svgOf({ width, height, title, description, elements }: Picture): string {
  const attributes = {
    xmlns: 'http://www.w3.org/2000/svg',
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: 'img',
  }
  const head = [
    element('title', {}, escapeXml(title)),
    element('desc', {}, escapeXml(description)),
    `<style>${STYLE}</style>`,
  ]
  return `${element('svg', attributes, '\n', [...head, ...elements].join('\n'), '\n')}\n`
}

/** Ours is a full line and a full bar; others are dashed lines and pale bars. Each has its name beside it. */
const STYLE = `
  text { font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2328 }
  .title { font-size: 15px; font-weight: 600 }
  .strong { font-weight: 600 }
  .faint { fill: #59636e }
  .small { font-size: 11px; fill: #59636e }
  .grid { stroke: #d1d9e0; stroke-width: 1 }
  .axis { stroke: #818b98; stroke-width: 1 }
  .line { fill: none; stroke: #9a6700; stroke-width: 2; stroke-dasharray: 7 5 }
  .line.ours { stroke: #0969da; stroke-width: 3; stroke-dasharray: none }
  .dot { fill: #9a6700 }
  .dot.ours { fill: #0969da }
  .bar { fill: #d4a72c; fill-opacity: 0.45; stroke: #9a6700; stroke-width: 1 }
  .bar.ours { fill: #0969da; fill-opacity: 1; stroke: #0969da }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc }
    .faint, .small { fill: #9198a1 }
    .grid { stroke: #3d444d }
    .axis { stroke: #9198a1 }
    .line { stroke: #e3b341 }
    .line.ours { stroke: #58a6ff }
    .dot { fill: #e3b341 }
    .dot.ours { fill: #58a6ff }
    .bar { fill: #e3b341; fill-opacity: 0.25; stroke: #e3b341 }
    .bar.ours { fill: #58a6ff; stroke: #58a6ff }
  }
`

function shortened(value: string | number): string {
  return typeof value === 'number' ? String(Math.round(value * 10) / 10) : value
}

function escapeXml(value: string): string {
  return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
