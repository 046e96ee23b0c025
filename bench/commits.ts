/** How many commits a store has had. */

import { readFileSync } from 'node:fs'
import { endianness } from 'node:os'

/** Where the index of SQLite's log counts transactions, in the byte order of the machine: https://sqlite.org/walformat.html */
const CHANGE_COUNTER_AT = 8

/** Since the store was opened by the first of those that have it open. Only differences mean something. */
export function countCommits(path: string): number {
  const index = readFileSync(`${path}-shm`)
  return endianness() === 'LE' ? index.readUInt32LE(CHANGE_COUNTER_AT) : index.readUInt32BE(CHANGE_COUNTER_AT)
}
