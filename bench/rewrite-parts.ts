/** What it takes to change one item of a ream, part by part. */

import { REAM_SIZE } from '../src/store/positions.ts'
import type { ReamBytes } from '../src/store/ream.ts'
import { encodeReam } from '../src/store/ream.ts'
import { changeReam, openReam } from '../src/store/ream-draft.ts'
import { openSqliteStore } from '../src/store/sqlite/open.ts'
import { median } from './measure.ts'

/** Enough for a median, and for the compiler. */
const REAMS = 200
const SLOT = REAM_SIZE / 2
const ITEM = '{"id":10000000,"kind":"concert","title":"another one","seats":1000}'

export interface RewriteParts {
  readonly inflateMs: number
  readonly editMs: number
  readonly deflateMs: number
}

/** Medians over some reams of a collection without holes. */
export async function measureRewrite(path: string, collection: string): Promise<RewriteParts> {
  const measured: RewriteParts[] = []
  const store = await openSqliteStore({ path })
  try {
    for await (const segment of store.items(collection)) {
      const { count, rawLength, crc } = segment
      if (count < REAM_SIZE) break
      measured.push(timeRewrite({ count, rawLength, crc, data: segment.deflated() }))
      if (measured.length === REAMS) break
    }
  } finally {
    await store.close()
  }
  return {
    inflateMs: median(measured.map(({ inflateMs }) => inflateMs)),
    editMs: median(measured.map(({ editMs }) => editMs)),
    deflateMs: median(measured.map(({ deflateMs }) => deflateMs)),
  }
}

function timeRewrite(ream: ReamBytes): RewriteParts {
  const startedAt = performance.now()
  const open = openReam({ ...ream, gone: null })
  const inflatedAt = performance.now()
  const changed = changeReam(open, new Map([[SLOT, ITEM]]))
  const editedAt = performance.now()
  encodeReam(changed.raw, changed.count)
  const deflatedAt = performance.now()
  return { inflateMs: inflatedAt - startedAt, editMs: editedAt - inflatedAt, deflateMs: deflatedAt - editedAt }
}
