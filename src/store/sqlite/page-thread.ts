/** The thread that reads pages, on a connection of its own. */

import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { Head } from '../store.ts'
import { openReadConnection } from './connection.ts'
import { explainError } from './explain-error.ts'
import { readHead } from './head.ts'
import {
  memoryOf,
  type PageAnswer,
  type PageQuestion,
  type PagesMessage,
  type PagesReply,
  packPage,
  READY,
} from './page-message.ts'
import { findPage, inSnapshot } from './read.ts'
import { Rows } from './rows.ts'
import { checkSameFile, type FilePlace } from './store-file.ts'
import { packError } from './thread-message.ts'

// Who starts this thread is typed (page-reader.ts).
if (parentPort !== null) servePages(parentPort, workerData as FilePlace)

function servePages(port: MessagePort, place: FilePlace): void {
  const rows = new Rows(openReadConnection(place.path))
  rows.get('SELECT 1 FROM head')
  checkSameFile(place)

  /** The heads of one snapshot, each read once. */
  function answer(question: PageQuestion, heads: Map<string, Head | undefined>): PageAnswer {
    const { name, page, isPublicOnly } = question
    try {
      if (!heads.has(name)) heads.set(name, readHead(rows, name))
      const head = heads.get(name)
      if (head === undefined || (isPublicOnly && head.isPrivate)) return undefined
      return packPage(findPage(rows, head, page), question)
    } catch (error) {
      return packError(explainError(error, place.path))
    }
  }

  port.on('message', ({ id, questions }: PagesMessage) => {
    const heads = new Map<string, Head | undefined>()
    const answers = inSnapshot(rows, () => questions.map((question) => answer(question, heads)))
    const reply: PagesReply = { id, answers }
    port.postMessage(reply, memoryOf(answers))
  })
  port.postMessage(READY)
}
