/** How large a collection is, in words. */

import { lastPage } from '../contract/page.ts'
import type { Head } from '../store/store.ts'
import { formatItems, formatPages } from './figures.ts'

/** `1,234 items, 3 pages`. */
export function sizeOf(head: Head): string {
  return `${formatItems(head.live)}, ${pagesOf(head)}`
}

/** `3 pages`, or `unpaginated`. */
export function pagesOf(head: Head): string {
  return head.isPaginated ? formatPages(lastPage(head.live)) : 'unpaginated'
}
