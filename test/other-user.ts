/** Root has every right. Where a test is about the lack of one, somebody else has to run the program. */

import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Has a number, but no rights and often no name. */
const NOBODY = 65_534

/** Why root cannot have somebody else run the program; undefined where that can be, or is not needed. */
export function lackOfOtherUser(): string | undefined {
  if (process.getuid?.() !== 0 || isOpenToAll(fileURLToPath(import.meta.url))) return undefined
  return 'run by root in a clone where nobody else may go'
}

/** As whom a program lacks rights. */
export function withoutRights(): { readonly uid?: number } {
  return process.getuid?.() === 0 ? { uid: NOBODY } : {}
}

/** Whether everybody may enter each directory on the way, and read what is there. */
export function isOpenToAll(path: string): boolean {
  for (let at = path, wanted = 0o004; ; at = dirname(at), wanted = 0o001) {
    if ((statSync(at).mode & wanted) !== wanted) return false
    if (at === dirname(at)) return true
  }
}
