/** What a command is, and the values of its settings: a flag wins over its variable, the variable over the default. */

import { Failure } from './failure.ts'
import type { Suggestions } from './setting-kind.ts'
import { longFlag, SETTINGS, type Setting, type SettingName, type SettingValue } from './settings.ts'

type Origin = 'flag' | 'environment' | 'default'

/** Flags as commander hands them over, by the names of the settings: text, a list of texts, or true for a switch. */
export type Flags = Readonly<Record<string, string | readonly string[] | boolean | undefined>>

export type Environment = Readonly<Record<string, string | undefined>>

export class SettingValues {
  readonly #values = new Map<SettingName, { readonly value: unknown; readonly origin: Origin }>()

  /** Throws a Failure that names the flag or the variable, the value and what is expected. */
  constructor(names: readonly SettingName[], flags: Flags, environment: Environment) {
    for (const name of names) this.#values.set(name, resolve(SETTINGS[name], flags[name], environment))
  }

  get<N extends SettingName>(name: N): SettingValue<N> {
    // The table pairs each name with the kind whose parser made the value.
    return this.#values.get(name)?.value as SettingValue<N>
  }

  origin(name: SettingName): Origin {
    return this.#values.get(name)?.origin ?? 'default'
  }

  isGiven(name: SettingName): boolean {
    return this.origin(name) !== 'default'
  }
}

function resolve(setting: Setting, flag: Flags[string], environment: Environment): { value: unknown; origin: Origin } {
  if (typeof flag === 'boolean') return { value: flag, origin: 'flag' }
  if (flag !== undefined) return { value: parse(setting, String(flag), longFlag(setting)), origin: 'flag' }
  const variable = environment[setting.variable]
  // An empty variable is the usual way to unset one.
  if (variable === undefined || variable === '') return { value: setting.default, origin: 'default' }
  return { value: parse(setting, variable, setting.variable), origin: 'environment' }
}

function parse({ kind }: Setting, text: string, name: string): unknown {
  try {
    const value = kind.parse(text)
    if (value !== undefined) return value
  } catch (error) {
    // Its message says which value, or leaves it out because of a password.
    if (error instanceof TypeError) throw new Failure(2, `Invalid ${name}: ${error.message}`)
    throw error
  }
  throw new Failure(2, `Invalid ${name} "${text}": expected ${kind.expected}.`)
}

export interface Operand {
  /** As commander takes it: `<NAME>`, `[FILE...]`. */
  readonly syntax: string
  readonly description: string
  /** For shell completion. */
  readonly suggestions?: Suggestions
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
  /** Descriptions that replace the usual ones, for settings with a narrower meaning in this command. */
  readonly descriptions?: Partial<Record<SettingName, string>>
  /** Returns the exit status; undefined for success. */
  run(operands: readonly string[], settings: SettingValues): Promise<number | undefined>
}

/** Any user of the machine can read the arguments of a process, until it overwrites them. */
export function warnOfPassword(settings: SettingValues, warn: (text: string) => void): void {
  for (const name of ['store', 'from', 'to', 'tableFrom'] as const) {
    const location = settings.get(name)
    if (settings.origin(name) !== 'flag' || !location?.hasPassword) continue
    process.title = 'reams'
    // There the title is not what the system shows.
    const until = process.versions['bun'] ? 'as long as the program runs' : 'until the program has started'
    const { variable } = SETTINGS[name]
    const others = location.engine === 'mysql' ? 'MYSQL_PWD or ~/.my.cnf' : 'PGPASSWORD or ~/.pgpass'
    warn(
      `Other users can see the password in ${longFlag(SETTINGS[name])} in the process list, ${until}. Use ${variable}, ${others} instead.`,
    )
  }
}
