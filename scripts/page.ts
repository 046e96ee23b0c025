/** A generated page, and the Markdown that it is made of. */

export interface Page {
  readonly title: string
  /** What follows the title, with an empty line before each. */
  readonly blocks: readonly string[]
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows]
  return lines.map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`).join('\n')
}

export function fenced(text: string, language: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``
}
