/** Breaks a text into lines at blanks, with a hanging indent. */

/**
 * What stands before the first line is the caller's and `indent` columns wide; the other lines are indented as far. A
 * word that is too long for a line stays whole.
 */
export function wrap(text: string, columns: number, indent = 0): string {
  const lines: string[] = []
  let line: string | undefined
  for (const word of text.split(' ')) {
    if (line !== undefined && indent + line.length + 1 + word.length > columns) {
      lines.push(line)
      line = word
    } else line = line === undefined ? word : `${line} ${word}`
  }
  return [...lines, line ?? ''].join(`\n${' '.repeat(indent)}`)
}
