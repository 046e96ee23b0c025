/** What an import is compared with: a bare loop that inserts lines as rows, durably. Run as `row-insert.ts FILE DATABASE`. */

import { createReadStream } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

const ROWS_A_TRANSACTION = 10_000
/** Lines are split ahead of the clock, this many bytes of them at a time. */
const CHUNK_BYTES = 32 * 1024 * 1024

const [file = '', databasePath = ''] = process.argv.slice(2)
const database = new DatabaseSync(databasePath)
database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
database.exec('CREATE TABLE event (id INTEGER PRIMARY KEY, json TEXT NOT NULL)')
const insert = database.prepare('INSERT INTO event (json) VALUES (?)')

let insertMs = 0
let rows = 0
let lines: string[] = []
let rest = ''
for await (const text of createReadStream(file, { encoding: 'utf8', highWaterMark: CHUNK_BYTES })) {
  const split = (rest + text).split('\n')
  rest = split.pop() ?? ''
  lines = lines.length === 0 ? split : lines.concat(split)
  const whole = lines.length - (lines.length % ROWS_A_TRANSACTION)
  insertAll(lines.slice(0, whole))
  lines = lines.slice(whole)
}
insertAll(lines)
database.close()
console.log(JSON.stringify({ rows, insertMs }))

function insertAll(texts: readonly string[]): void {
  const startedAt = performance.now()
  for (let from = 0; from < texts.length; from += ROWS_A_TRANSACTION) {
    const to = Math.min(from + ROWS_A_TRANSACTION, texts.length)
    database.exec('BEGIN')
    for (let at = from; at < to; at++) insert.run(texts[at] as string)
    database.exec('COMMIT')
  }
  insertMs += performance.now() - startedAt
  rows += texts.length
}
