/** What it takes to change one item of a ream, part by part. */

import { encodeReam, inflateReam, joinItems, type ReamBytes, splitItems } from '../src/store/ream.ts'
import { openSqliteStore } from '../src/store/sqlite/open.ts'
import { median } from './measure.ts'

/** Enough for a median, and for the compiler. */
const REAMS = 200

export interface RewriteParts {
  readonly inflateMs: number
  readonly splitMs: number
  readonly joinMs: number
  readonly deflateMs: number
}

/** Medians over some reams of the collection. */
export async function measureRewrite(path: string, collection: string): Promise<RewriteParts> {
  const measured: RewriteParts[] = []
  const store = await openSqliteStore({ path })
  try {
    for await (const segment of store.items(collection)) {
      const { count, rawLength, crc } = segment
      measured.push(timeRewrite({ count, rawLength, crc, data: segment.deflated() }))
      if (measured.length === REAMS) break
    }
  } finally {
    await store.close()
  }
  return {
    inflateMs: median(measured.map(({ inflateMs }) => inflateMs)),
    splitMs: median(measured.map(({ splitMs }) => splitMs)),
    joinMs: median(measured.map(({ joinMs }) => joinMs)),
    deflateMs: median(measured.map(({ deflateMs }) => deflateMs)),
  }
}

function timeRewrite(ream: ReamBytes): RewriteParts {
  const startedAt = performance.now()
  const raw = inflateReam(ream)
  const inflatedAt = performance.now()
  const texts = splitItems(raw)
  const splitAt = performance.now()
  const joined = joinItems(texts)
  const joinedAt = performance.now()
  encodeReam(joined, ream.count)
  const deflatedAt = performance.now()
  return {
    inflateMs: inflatedAt - startedAt,
    splitMs: splitAt - inflatedAt,
    joinMs: joinedAt - splitAt,
    deflateMs: deflatedAt - joinedAt,
  }
}
