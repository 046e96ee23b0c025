/** How the items of a pull are written into its part, and how the file is made of a part that is only a draft of it. */

import { createReadStream } from 'node:fs'
import { CsvColumns, CsvForm } from './csv.ts'
import { countLines, JSON_FORM, NDJSON_FORM, type PullForm } from './form.ts'
import type { PullNote } from './note.ts'

const LINE_FEED = 0x0a
/** Of a draft, at a time: with more, what waits for its collection costs much memory. */
const CHUNK_BYTES = 128 * 1024

export interface PullContent {
  readonly form: PullForm
  /** The form of the whole file, where the part is a draft of it. */
  readonly finalForm: (() => PullForm) | undefined
  /** The names of the fields so far, where they become columns. */
  readonly fields: () => readonly string[]
  /** Columns that were asked for, and for which no item that came had a field. */
  readonly unusedColumns: () => readonly string[]
}

export function contentOf(note: Pick<PullNote, 'format' | 'columns' | 'isDraft' | 'fields'>): PullContent {
  const { format, columns, isDraft, fields } = note
  const direct = { finalForm: undefined, fields: () => fields, unusedColumns: () => [] }
  if (format === 'ndjson') return { ...direct, form: NDJSON_FORM }
  if (format === 'json') return { ...direct, form: JSON_FORM }
  if (isDraft) return draftOf(fields)
  const form = new CsvForm(columns ?? fields, columns !== undefined)
  return { ...direct, form, unusedColumns: () => (columns === undefined ? [] : [...form.unused]) }
}

/** Which columns there are is known at the end: until then NDJSON is kept, and the names of the fields. */
function draftOf(fieldsBefore: readonly string[]): PullContent {
  let columns = new CsvColumns(fieldsBefore)
  const form: PullForm = {
    ...NDJSON_FORM,
    render: (lines, before) => {
      if (before === 0) columns = new CsvColumns([])
      columns.add(lines, before)
      return lines
    },
  }
  const fields = () => columns.names
  return { form, finalForm: () => new CsvForm(fields(), false), fields, unusedColumns: () => [] }
}

/** All of a draft as the form has it, a piece at a time. `path` holds whole lines, and as many as there are items. */
export async function* converted(
  path: string,
  items: number,
  form: PullForm,
  { signal, onItems }: { readonly signal: AbortSignal; readonly onItems: (done: number) => void },
): AsyncGenerator<Uint8Array, void> {
  let before = 0
  for await (const lines of wholeLines(createReadStream(path, { highWaterMark: CHUNK_BYTES, signal }))) {
    yield form.render(lines, before)
    before += countLines(lines)
    onItems(before)
  }
  yield form.end(items)
}

async function* wholeLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Uint8Array, void> {
  let rest: Buffer[] = []
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(LINE_FEED) + 1
    if (end > 0) {
      yield Buffer.concat([...rest, chunk.subarray(0, end)])
      rest = []
    }
    if (end < chunk.length) rest.push(chunk.subarray(end))
  }
}
