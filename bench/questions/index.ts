/** All questions, in the order in which they run: the import first, because its rounds make what the others share. */

import type { Question } from '../question.ts'
import { BYTES } from './bytes.ts'
import { COLD_PAGE } from './cold-page.ts'
import { DEPTH } from './depth.ts'
import { HAND_WRITTEN } from './hand-written.ts'
import { HOLES } from './holes.ts'
import { IMPORT } from './import.ts'
import { IMPORT_MEMORY } from './import-memory.ts'
import { SERVER_MEMORY } from './server-memory.ts'
import { SIZE } from './size.ts'

export const QUESTIONS: readonly Question[] = [
  IMPORT,
  IMPORT_MEMORY,
  BYTES,
  DEPTH,
  SIZE,
  COLD_PAGE,
  SERVER_MEMORY,
  HAND_WRITTEN,
  HOLES,
]
