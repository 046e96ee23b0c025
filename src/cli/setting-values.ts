/** The values in force for one run of a command: a flag wins over its variable, the variable over the default. */

import { Failure } from './failure.ts'
import { type CommandName, type Setting, type SettingName, type SettingValue, settingsOf } from './settings.ts'

export type Origin = 'flag' | 'environment' | 'default'

/** Flags as commander hands them over, by the names of the settings: text, a list of texts, or true for a switch. */
export type Flags = Readonly<Record<string, string | readonly string[] | boolean | undefined>>

export type Environment = Readonly<Record<string, string | undefined>>

export class SettingValues {
  readonly #values = new Map<SettingName, { readonly value: unknown; readonly origin: Origin }>()

  /** Throws a Failure that names the flag or the variable, the value and what is allowed. */
  constructor(command: CommandName, flags: Flags, environment: Environment) {
    for (const [name, setting] of settingsOf(command))
      this.#values.set(name, resolve(name, setting, flags, environment))
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

function resolve(name: string, setting: Setting<unknown>, flags: Flags, environment: Environment) {
  const flag = flags[name]
  if (typeof flag === 'boolean') return { value: flag, origin: 'flag' } as const
  if (flag !== undefined) {
    const text = typeof flag === 'string' ? flag : flag.join(',')
    return { value: parse(setting, text, longFlag(setting), ' '), origin: 'flag' } as const
  }
  const variable = environment[setting.variable]
  // An empty variable is the usual way to unset one.
  if (variable === undefined || variable === '') return { value: setting.default, origin: 'default' } as const
  return { value: parse(setting, variable, setting.variable, '='), origin: 'environment' } as const
}

function parse(setting: Setting<unknown>, text: string, name: string, sign: string): unknown {
  try {
    const value = setting.kind.parse(text)
    if (value !== undefined) return value
  } catch (error) {
    // A reason of its own says which value, or keeps silent about it because of a password.
    if (error instanceof TypeError) throw new Failure(2, `${name}: ${error.message}`)
    throw error
  }
  throw new Failure(2, `"${name}${sign}${text}" is not possible. Give ${setting.kind.allowed}.`)
}

/** `--output` of `-o, --output <file>`. */
export function longFlag(setting: Setting<unknown>): string {
  return /--[a-z-]+/.exec(setting.flag)?.[0] ?? setting.flag
}
