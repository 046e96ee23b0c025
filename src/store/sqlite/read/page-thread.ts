/** The thread that reads pages, on a connection of its own. */

import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { Head } from '../../store.ts'
import { checkSameFile, type FilePlace, openReadConnection } from '../file/store-file.ts'
import { explainError } from '../rows/explain-error.ts'
import { readHead } from '../rows/head.ts'
import { Rows } from '../rows/rows.ts'
import { END, type EndMessage, packError } from '../write/thread-message.ts'
import {
  memoryOf,
  type PageAnswer,
  type PageQuestion,
  type PagesMessage,
  type PagesReply,
  packPage,
  READY,
} from './page-message.ts'
import { findPage } from './read.ts'

// Who starts this thread is typed (page-reader.ts).
if (parentPort !== null) servePages(parentPort, workerData as FilePlace)

function servePages(port: MessagePort, place: FilePlace): void {
  const database = openReadConnection(place.path)
  const rows = new Rows(database)
  rows.get('SELECT 1 FROM head')
  checkSameFile(place)

  /** The heads of one snapshot, each read once. */
  function answer(question: PageQuestion, heads: Map<string, Head | undefined>): PageAnswer {
    const { name, page, isPublicOnly } = question
    try {
      const sought = `${isPublicOnly} ${name}`
      if (!heads.has(sought)) heads.set(sought, readHead(rows, name, isPublicOnly))
      const head = heads.get(sought)
      return head && packPage(findPage(rows, head, page), question)
    } catch (error) {
      return packError(explainError(error, place.path))
    }
  }

  function answerAll({ id, questions }: PagesMessage): void {
    const heads = new Map<string, Head | undefined>()
    const answers = rows.inSnapshot(() => questions.map((question) => answer(question, heads)))
    const reply: PagesReply = { id, answers }
    port.postMessage(reply, memoryOf(answers))
  }

  function end(): void {
    database.close()
    port.close()
  }

  port.on('message', (message: PagesMessage | EndMessage) => {
    if (message === END) end()
    else answerAll(message)
  })
  port.postMessage(READY)
}
