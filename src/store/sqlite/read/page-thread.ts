/** The thread that reads pages, on a connection of its own. */

import type { PageQuestion } from '../../store-reads.ts'
import type { StoredHead } from '../../tables.ts'
import { answerCalls } from '../../thread.ts'
import { checkSameFile, type FilePlace, openReadConnection } from '../file/store-file.ts'
import { explainError } from '../rows/explain-error.ts'
import { SqliteRows } from '../rows/sqlite-rows.ts'
import { Statements } from '../rows/statements.ts'
import { packError } from '../write/writer.ts'
import { memoryOf, type PageAnswer, packPage } from './page-message.ts'
import { readPageOfHead } from './read.ts'

// Who starts this thread is typed (page-reader.ts).
answerCalls((place: FilePlace) => {
  const database = openReadConnection(place.path)
  const rows = new SqliteRows(new Statements(database))
  rows.sql.get('SELECT 1 FROM head')
  checkSameFile(place)
  const answerAll = (questions: readonly PageQuestion[]) => {
    /** Of one snapshot, each read once. */
    const heads = new Map<string, StoredHead | undefined>()
    const reply = rows.sql.inSnapshot(() => questions.map((question) => answer(question, { place, rows, heads })))
    return { reply, memory: memoryOf(reply) }
  }
  return { answer: answerAll, close: () => database.close() }
})

interface Answering {
  readonly place: FilePlace
  readonly rows: SqliteRows
  readonly heads: Map<string, StoredHead | undefined>
}

function answer(question: PageQuestion, { place, rows, heads }: Answering): PageAnswer {
  const { name, isPublicOnly } = question
  try {
    const sought = `${isPublicOnly} ${name}`
    if (!heads.has(sought)) heads.set(sought, rows.readHead(name, isPublicOnly))
    const head = heads.get(sought)
    return head && packPage(readPageOfHead(rows, head, question), question)
  } catch (error) {
    return packError(explainError(error, place.path))
  }
}
