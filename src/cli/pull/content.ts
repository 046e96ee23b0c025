/** How the items of a pull are written into its part, and what becomes of the part in the end. */

import { CsvColumns, CsvForm } from './csv.ts'
import { JSON_FORM, NDJSON_FORM, type PullForm } from './form.ts'
import type { PullNote } from './note.ts'

export interface PullContent {
  readonly form: PullForm
  /** The form of the whole file, where the part is a draft of it. */
  readonly finalForm: (() => PullForm) | undefined
  /** The names of the fields so far, where they become columns. */
  readonly fields: () => readonly string[]
  /** Columns that were asked for, and for which no item had a field. */
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
