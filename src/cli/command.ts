/** What a command of the program is made of; `program.ts` turns it into flags and help. */

import type { SettingValues } from './setting-values.ts'
import type { CommandName } from './settings.ts'

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
  /** What the family's own --help says first. */
  readonly description: string
  readonly examples: readonly Example[]
}

export interface CliCommand {
  /** All its words: in a family the first one is the family's. */
  readonly name: CommandName
  readonly family?: CommandFamily
  /** The heading under which `reams --help`, or that of the family, shows it. */
  readonly group: string
  /** What follows `reams <name>` in the usage line. */
  readonly usage: string
  /** One line for the same help. */
  readonly summary: string
  /** What the command's own --help says first. */
  readonly description: string
  readonly operands: readonly Operand[]
  readonly examples: readonly Example[]
  /** Answers the exit status. */
  run(operands: readonly string[], settings: SettingValues): Promise<number>
}
