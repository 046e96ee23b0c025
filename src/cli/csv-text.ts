/** Fields of CSV, quoted as RFC 4180 has it. */

/** What readers would take for something else, or could cut off. */
const NEEDS_QUOTES = /^\s|[",\r\n]|\s$/

const FIELD = /"((?:[^"]|"")*)"|([^",]*)/y

/** An empty text gets quotes too, which tells it from a field that is not there. */
export function csvText(text: string): string {
  return text === '' || NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** One row, without its end. An empty field stands for a value that is not there. */
export function csvRow(fields: readonly string[]): string {
  const row = fields.join(',')
  // Readers pass empty lines.
  return row === '' ? csvText('') : row
}

/** The texts of a row; undefined if it cannot be one. */
export function parseCsvRow(row: string): string[] | undefined {
  const texts: string[] = []
  for (let at = 0; at <= row.length; ) {
    FIELD.lastIndex = at
    const [field = '', quoted, plain = ''] = FIELD.exec(row) ?? []
    texts.push(quoted?.replaceAll('""', '"') ?? plain)
    at += field.length
    if (at < row.length && row[at] !== ',') return undefined
    at++
  }
  return texts
}
