/** The table of mutants: the correct server with one defect each, and the rule that is made for it. */

import { CONTENT_MUTANTS } from './mutants/contents.ts'
import { HISTORY_MUTANTS } from './mutants/history.ts'
import { LINK_MUTANTS } from './mutants/links.ts'
import type { Mutant } from './mutants/mutant.ts'
import { PAGE_MUTANTS } from './mutants/pages.ts'
import { PROTOCOL_MUTANTS } from './mutants/protocol.ts'

export const MUTANTS: readonly Mutant[] = [
  ...CONTENT_MUTANTS,
  ...LINK_MUTANTS,
  ...PAGE_MUTANTS,
  ...PROTOCOL_MUTANTS,
  ...HISTORY_MUTANTS,
]
