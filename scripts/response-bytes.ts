/** Fills in the bytes of a response that `docs/explanation/how-pages-stay-cheap.md` shows: page 2 of the sample, as gzip. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sampleCollections } from '../src/cli/commands/serve/sample.ts'
import { itemRun } from '../src/items/item-run.ts'
import { createService } from '../src/service/create-service.ts'
import { openSqliteStore } from '../src/store/sqlite/open.ts'
import { fenced } from './page.ts'

const HEADER_BYTES = 10
const TRAILER_BYTES = 8
/** Of a stored block: its kind, its length, and its length with all bits flipped. */
const BLOCK_HEADER_BYTES = 5
/** Ends a flush of zlib: the end of each quire, and of the ream. */
const FLUSH = Buffer.from('0000ffff', 'hex')
/** The stored block of two bytes between two quires. */
const BETWEEN_QUIRES = Buffer.from('000200fdff2c0a', 'hex')
/** The rest of the response after the items. */
const ENVELOPE_END = '\n]}}\n'

/** Returns the page with `<!-- bytes: response -->` and `<!-- bytes: quires -->` filled in. */
export async function withResponseBytes(page: string): Promise<string> {
  const bytes = await responseBytes()
  return filled(filled(page, 'response', describeResponse(bytes)), 'quires', describeQuires(bytes))
}

async function responseBytes(): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'reams-docs-'))
  const store = await openSqliteStore({ path: join(folder, 'sample.db'), create: true })
  try {
    for (const { name, keyField, isPaginated, items } of sampleCollections()) {
      await store.create(name, { keyField, isPaginated })
      await store.append(name, itemRun(items, { keyField }))
    }
    // Without the link to a snapshot, which differs from store to store.
    await store.setRetention('events', { retentionMs: 0 })
    const { fetch } = createService({ store, baseUrl: 'http://127.0.0.1:8080' })
    const headers = { 'Accept-Encoding': 'gzip' }
    const response = await fetch(new Request('http://127.0.0.1:8080/events?page=2', { headers }))
    return Buffer.from(await response.arrayBuffer())
  } finally {
    await store.close()
    rmSync(folder, { recursive: true })
  }
}

function describeResponse(bytes: Buffer): string {
  const envelopeBytes = storedLength(bytes, HEADER_BYTES, false)
  const reamStart = HEADER_BYTES + BLOCK_HEADER_BYTES + envelopeBytes
  const trailerStart = bytes.length - TRAILER_BYTES
  const endStart = trailerStart - ENVELOPE_END.length - BLOCK_HEADER_BYTES
  const endBytes = storedLength(bytes, endStart, true)
  assertIs(bytes.subarray(endStart - FLUSH.length, endStart), FLUSH, 'the end of the ream')
  assertIs(bytes.subarray(endStart + BLOCK_HEADER_BYTES, trailerStart), Buffer.from(ENVELOPE_END), 'the envelope')
  const blockHeader = (at: number) => hex(bytes.subarray(at, at + BLOCK_HEADER_BYTES))
  return table([
    [hex(bytes.subarray(0, HEADER_BYTES)), 'gzip header'],
    [
      `${blockHeader(HEADER_BYTES)}  {"item_count":1234,…[↵`,
      `a stored block, not the last, ${envelopeBytes} bytes: the envelope up to the items`,
    ],
    [`${hex(bytes.subarray(reamStart, reamStart + 4))} …   ${hex(FLUSH)}`, 'the ream, as it lies on disk'],
    [`${blockHeader(endStart)}  ↵]}}↵`, `a stored block, the last, ${endBytes} bytes: the end of the envelope`],
    [
      `${hex(bytes.subarray(trailerStart, trailerStart + 4))}  ${hex(bytes.subarray(trailerStart + 4))}`,
      'CRC-32 and length of the whole text',
    ],
  ])
}

function describeQuires(bytes: Buffer): string {
  const first = HEADER_BYTES + BLOCK_HEADER_BYTES + storedLength(bytes, HEADER_BYTES, false)
  const between = bytes.indexOf(Buffer.concat([FLUSH, BETWEEN_QUIRES]), first)
  if (between === -1) throw new Error('The response has no second quire.')
  const second = between + FLUSH.length + BETWEEN_QUIRES.length
  const quire = (at: number) => `${hex(bytes.subarray(at, at + 4))} …   ${hex(FLUSH)}`
  const rows: [string, string][] = [
    [quire(first), 'the first quire'],
    [`${hex(BETWEEN_QUIRES.subarray(0, BLOCK_HEADER_BYTES))}  ,↵`, 'a stored block: what stands between two items'],
    [quire(second), 'the second quire'],
  ]
  return `${table(rows)}\n…`
}

/** Throws unless a stored block begins there, whose first byte says whether it is the last of its stream. */
function storedLength(bytes: Buffer, at: number, isLast: boolean): number {
  const length = bytes.readUInt16LE(at + 1)
  if (bytes[at] !== Number(isLast) || bytes.readUInt16LE(at + 3) !== 0xffff - length)
    throw new Error(`At byte ${at} there is no stored block: ${hex(bytes.subarray(at, at + BLOCK_HEADER_BYTES))}`)
  return length
}

function assertIs(bytes: Buffer, expected: Buffer, what: string): void {
  if (!bytes.equals(expected)) throw new Error(`${what} is ${hex(bytes)}, not ${hex(expected)}.`)
}

function hex(bytes: Buffer): string {
  return bytes.toString('hex').replaceAll(/..(?=.)/g, '$& ')
}

/** Two columns. */
function table(rows: readonly [string, string][]): string {
  const width = Math.max(...rows.map(([first]) => first.length)) + 4
  return rows.map(([first, second]) => first.padEnd(width) + second).join('\n')
}

function filled(page: string, name: string, text: string): string {
  const [start, end] = [`<!-- bytes: ${name} -->`, '<!-- / -->']
  const [before, rest, ...others] = page.split(start)
  const at = rest?.indexOf(end) ?? -1
  if (rest === undefined || at === -1 || others.length > 0) throw new Error(`The page needs ${start} once, and ${end}.`)
  return `${before}${start}\n\n${fenced(text, 'text')}\n\n${rest.slice(at)}`
}
