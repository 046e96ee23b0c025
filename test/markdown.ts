/** What the tests need to know of a Markdown file: its code blocks, its tables, its headings and its links. */

export interface Fence {
  readonly language: string
  readonly text: string
  /** Where the block begins, counted from 1. */
  readonly line: number
}

export function fencesOf(markdown: string): Fence[] {
  return [...markdown.matchAll(FENCE)].map(({ index, groups }) => {
    const { indent = '', language = '', text = '' } = groups ?? {}
    const lines = text.split('\n').map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line))
    return { language, text: lines.join('\n'), line: markdown.slice(0, index).split('\n').length }
  })
}

const FENCE = /^(?<indent> *)```(?<language>\w+)\n(?<text>[\s\S]*?)^ *```$/gm

/** The tables, each as its rows without the head, each row as the texts of its cells. */
export function tablesOf(markdown: string): string[][][] {
  return [...prose(markdown).matchAll(/(?:^\|.*\|\n)+/gm)].map(([table]) =>
    table
      .trimEnd()
      .split('\n')
      .slice(2)
      .map((row) =>
        row
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim()),
      ),
  )
}

export function headingsOf(markdown: string): string[] {
  return [...prose(markdown).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading)
}

/** The fragments under which the headings can be linked, by the rule that code hosts share. */
export function anchorsOf(markdown: string): string[] {
  const seen = new Map<string, number>()
  return headingsOf(markdown).map((heading) => {
    const anchor = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-')
    const times = seen.get(anchor) ?? 0
    seen.set(anchor, times + 1)
    return times === 0 ? anchor : `${anchor}-${times}`
  })
}

/** Where the links lead to, in order. */
export function linksOf(markdown: string): string[] {
  return [...prose(markdown).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
}

/** What stands between backticks in running text. */
export function inlineCodeOf(markdown: string): string[] {
  return [...prose(markdown).matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code)
}

function prose(markdown: string): string {
  return markdown.replace(FENCE, '')
}
