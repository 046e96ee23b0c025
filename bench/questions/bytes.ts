/** How large is a store, next to the same items as a gzip file? */

import { createReadStream } from 'node:fs'
import { createGzip } from 'node:zlib'
import { databaseBytes } from '../database-file.ts'
import type { Question } from '../question.ts'

export const BYTES: Question = {
  name: 'bytes',
  needs: ['ndjson', 'store', 'rows'],
  cost: { seconds: 0, secondsAMillion: 3.3 },
  async run(workspace) {
    const ndjson = await workspace.ndjson()
    const rowBytes = databaseBytes((await workspace.rows()).path)
    const storeBytes = databaseBytes((await workspace.store()).path)
    workspace.step('bytes: gzip -6 of the NDJSON')
    const gzipBytes = await gzipLength(ndjson.path, workspace.signal)
    return [
      {
        measured: 'bytes of the store ÷ of gzip -6 of the same NDJSON',
        value: storeBytes / gzipBytes,
        required: { atMost: 1.4 },
        raw: {
          storeBytes,
          gzipBytes,
          rowBytes,
          ndjsonBytes: ndjson.bytes,
          ndjsonBytesAnItem: ndjson.bytes / workspace.items,
        },
      },
    ]
  },
}

async function gzipLength(path: string, signal: AbortSignal): Promise<number> {
  let bytes = 0
  for await (const chunk of createReadStream(path, { signal }).compose(createGzip({ level: 6 }))) bytes += chunk.length
  return bytes
}
