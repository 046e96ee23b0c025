/**
 * The changes of an origin since a state, page by page. An origin can be put back to a backup between two pages, and go on in
 * another way: so a page is handed on only when a state at the end of the changes, which was named before the page was read, is
 * still known after it. Only one history has that state, and the changes before it are its own.
 */

import { inOrder } from '../client/in-order.ts'
import type { Page } from '../client/page.ts'
import { PAGE_SIZE } from '../contract/page.ts'
import { HistoryLost, MirrorError } from './mirror-error.ts'
import { known, type Origin } from './origin.ts'
import type { Position } from './position.ts'

const AHEAD = 4
/** Read before it is asked once for all of it whether the history is still the same. */
const BYTES_A_CHECK = 1024 * 1024

export interface ChangesPage {
  readonly page: Page
  /** The first of its changes that is new. */
  readonly first: number
  /** A state in the history of these changes, not before them. */
  readonly until: string
  /** Whether `until` is the state right behind the last of them. */
  readonly isEnd: boolean
}

/** The page on which the next change stands, or will stand. */
export function nextPage({ changes }: Position): number {
  return Math.floor(changes / PAGE_SIZE) + 1
}

/** `first` is the next page, as it was just read. `onLast` gets the last one, as soon as it is known. */
export async function* changesSince(
  origin: Origin,
  position: Position,
  first: Page,
  onLast: (last: Page) => void,
  signal: AbortSignal,
): AsyncGenerator<ChangesPage> {
  const changes = origin.changes(position.tag)
  const read = (number: number, ending: AbortSignal | undefined = signal) =>
    known(changes.page(number, { signal: ending }))
  const handOn = (page: Page, until: string, isEnd: boolean): ChangesPage => {
    return { page, first: page.number === first.number ? position.changes % PAGE_SIZE : 0, until, isEnd }
  }
  let until = position.until
  for (let page = first; ; ) {
    if (page.isLast) {
      onLast(page)
      if (until !== undefined) await origin.check(until)
      yield handOn(page, endOf(origin, page), true)
      return
    }
    const last = await findLast(page, read)
    onLast(last)
    const end = endOf(origin, last)
    if (until !== undefined) await origin.check(until)
    until = end
    let batch: Page[] = []
    let bytes = 0
    for await (const full of inOrder(page.number, last.number - 1, AHEAD, read, signal)) {
      batch.push(full)
      bytes += full.body.byteLength
      if (bytes < BYTES_A_CHECK && full.number < last.number - 1) continue
      await origin.check(end)
      for (const each of batch) yield handOn(each, end, false)
      batch = []
      bytes = 0
    }
    page = await read(last.number)
  }
}

/** Requests in which the end of the changes must be found. An origin may add a page while it is asked for its last one. */
const MAX_ASKS = 100

async function findLast(page: Page, read: (number: number) => Promise<Page>): Promise<Page> {
  let last = page
  for (let asks = 0; asks < MAX_ASKS && !last.isLast; asks++) last = await read(last.lastPage)
  if (!last.isLast)
    throw new MirrorError('data', `${page.url} has no last page: it was not found in ${MAX_ASKS} requests.`)
  return last
}

function endOf(origin: Origin, page: Page): string {
  const tag = origin.tagOf(page)
  if (tag === undefined) throw new HistoryLost('its origin does not name the state with which its changes end')
  return tag
}
