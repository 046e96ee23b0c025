/** All commands, in the order in which --help lists them. */

import { CHECK } from './check.ts'
import { COLLECTIONS } from './collections.ts'
import type { CliCommand } from './command.ts'
import { COMPACT } from './compact.ts'
import { COPY } from './copy.ts'
import { DROP } from './drop.ts'
import { EXPORT } from './export.ts'
import { IMPORT } from './import.ts'
import { PULL } from './pull.ts'
import { PUSH } from './push.ts'
import { SERVE } from './serve.ts'
import { SET } from './set.ts'
import { TOKEN_CREATE } from './token/create.ts'
import { TOKEN_LIST } from './token/list.ts'
import { TOKEN_REVOKE } from './token/revoke.ts'
import { VERIFY } from './verify.ts'

export const COMMANDS: readonly CliCommand[] = [
  SERVE,
  IMPORT,
  COPY,
  PUSH,
  SET,
  COMPACT,
  DROP,
  TOKEN_CREATE,
  TOKEN_LIST,
  TOKEN_REVOKE,
  COLLECTIONS,
  EXPORT,
  VERIFY,
  PULL,
  CHECK,
]
