/** What can be typed after each command, from the tables of commands and settings. Each shell's script is made from it. */

import type { Suggestions } from '../../setting-kind.ts'
import type { CliCommand, CommandFamily, Operand } from '../../setting-values.ts'
import { SETTINGS, type Setting } from '../../settings.ts'

export interface TypedCommand {
  /** Empty for `reams` itself; `token create` for a command of a family. */
  readonly name: string
  readonly flags: readonly TypedFlag[]
  /** What its first operand can be, where that is a command. It has no other operands then. */
  readonly commands: readonly { readonly word: string; readonly summary: string }[]
  readonly operands: readonly TypedOperand[]
}

export interface TypedFlag {
  /** `-o` and `--output`. */
  readonly forms: readonly string[]
  readonly description: string
  /** Undefined for a switch. */
  readonly value?: TypedValue
  readonly isList?: boolean
}

export interface TypedValue {
  readonly label: string
  /** None where only the user knows the value. */
  readonly suggestions: Suggestions
}

export interface TypedOperand extends TypedValue {
  /** Whether any number of them can follow. */
  readonly isList: boolean
}

const VERSION: TypedFlag = { forms: ['-V', '--version'], description: 'print the version' }
const HELP: TypedFlag = { forms: ['-h', '--help'], description: 'print this help' }

export function typedCommands(commands: readonly CliCommand[]): TypedCommand[] {
  const families = [...new Set(commands.flatMap(({ family }) => family ?? []))]
  const words = [...new Set(commands.map((command) => command.family ?? command))].map(wordOf)
  const help = { word: 'help', summary: 'print the help of a command' }
  return [
    { name: '', flags: [VERSION, HELP], commands: [...words, help], operands: [] },
    ...families.flatMap((family) => {
      const members = commands.filter((command) => command.family === family).map(wordOf)
      return [
        { name: family.name, flags: [HELP], commands: members, operands: [] },
        { name: `help ${family.name}`, flags: [], commands: members, operands: [] },
      ]
    }),
    ...commands.map(({ name, settings, operands }) => {
      const flags = [...settings.map((each) => flagOf(SETTINGS[each])), HELP]
      return { name, flags, commands: [], operands: operands.map(operandOf) }
    }),
    { name: 'help', flags: [], commands: words, operands: [] },
  ]
}

function wordOf({ name, summary }: CommandFamily) {
  return { word: name.replace(/^.* /, ''), summary }
}

function flagOf({ flag, description, kind }: Setting): TypedFlag {
  const forms = flag.match(/(?<!\S)--?[a-z-]+/g) ?? []
  const { placeholder, suggestions = [], isList = false } = kind
  if (placeholder === undefined) return { forms, description }
  return { forms, description, value: { label: placeholder, suggestions }, isList }
}

function operandOf({ syntax, suggestions = [] }: Operand): TypedOperand {
  return { label: syntax.replace(/[^A-Z]/g, ''), suggestions, isList: syntax.includes('...') }
}

/** Without `reams` itself. */
export function commandNames(commands: readonly TypedCommand[]): string[] {
  return commands.map(({ name }) => name).filter((name) => name !== '')
}

/** The flags after which a value follows: in every command that has them. */
export function flagsWithValue(commands: readonly TypedCommand[]): string[] {
  const flags = commands.flatMap((command) => command.flags).filter(({ value }) => value !== undefined)
  return [...new Set(flags.flatMap(({ forms }) => forms))]
}
