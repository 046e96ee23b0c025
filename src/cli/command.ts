/** What a command of the program is made of; `program.ts` turns it into flags and help. */

import type { SettingValues } from './setting-values.ts'
import type { SettingName } from './settings.ts'

export interface Operand {
  /** As commander takes it: `<NAME>`, `[FILE...]`. */
  readonly syntax: string
  readonly description: string
}

export interface Example {
  readonly line: string
  readonly purpose: string
}

/** Commands that begin with the same word: `reams --help` shows the family, and the help of the family its commands. */
export interface CommandFamily {
  readonly name: string
  /** The heading under which `reams --help` shows it. */
  readonly group: string
  /** One line for `reams --help`. */
  readonly summary: string
  /** What its own --help says first. */
  readonly description: string
  readonly examples: readonly Example[]
}

export interface CliCommand extends CommandFamily {
  /** Undefined for a command of one word; else `name` begins with the name of the family. */
  readonly family?: CommandFamily
  /** What follows `reams <name>` in the usage line. */
  readonly usage: string
  readonly operands: readonly Operand[]
  readonly settings: readonly SettingName[]
  /** Returns the exit status. */
  run(operands: readonly string[], settings: SettingValues): Promise<number>
}
