/** Who may read a collection. */

import type { Head } from '../store/store.ts'

/** Until there are tokens nobody may read a private collection: it is answered like one that does not exist (D19). */
export function isReadable(head: Head): boolean {
  return !head.isPrivate
}
