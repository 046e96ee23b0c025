/** The paths of random pages, as a client asks for them. */

import { randomPages } from './random.ts'
import { COLLECTION } from './workspace.ts'

export function randomPaths(count: number, lastPage: number): string[] {
  return randomPages(count, lastPage, 1).map((page) => `/${COLLECTION}?page=${page}`)
}
