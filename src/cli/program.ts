/** Builds the program out of its commands and the table of settings: flags, help and messages about wrong use. */

import { Command, type CommanderError, Option } from 'commander'
import type { CliCommand, CommandFamily, Example } from './command.ts'
import { type Flags, longFlag, SettingValues } from './setting-values.ts'
import { type Setting, type SettingName, settingsOf } from './settings.ts'

export interface ProgramOptions {
  readonly version: string
  readonly commands: readonly CliCommand[]
  /** Gets the operands and values of the command that the user chose. */
  readonly onCommand: (command: CliCommand, operands: readonly string[], settings: SettingValues) => Promise<void>
}

const EXAMPLES: readonly Example[] = [
  { line: 'reams serve events.ndjson', purpose: 'serve a file at once' },
  { line: 'reams import events events.ndjson', purpose: 'load a file into reams.db' },
  { line: 'reams serve', purpose: 'serve reams.db' },
]

export function createProgram({ version, commands, onCommand }: ProgramOptions): Command {
  const program = new Command('reams')
    .description('Serves collections over HTTP, 500 items a page, with an exact count.')
    .usage('COMMAND [options]')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .commandsGroup('Help:')
    .helpCommand('help [COMMAND]', 'print the help of a command')
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'reams: ')) })
    .showHelpAfterError('"reams --help" lists the commands.')
    .exitOverride()
    .addHelpText('after', examplesText(EXAMPLES))
    .addHelpText('after', '\n"reams COMMAND --help" says more about each.')
  for (const command of commands) addCommand(program, command, onCommand)
  return program
}

function addCommand(program: Command, specification: CliCommand, onCommand: ProgramOptions['onCommand']): void {
  const { name, family, group, usage, summary, description, operands, examples } = specification
  const settings = settingsOf(name)
  const parent = family === undefined ? program : familyCommand(program, family)
  const command = parent
    .command(name.replace(/^.* /, ''))
    .helpGroup(`${group}:`)
    .usage(usage)
    .summary(summary)
    .description(description)
    .showHelpAfterError(`"reams ${name} --help" says how it is used.`)
    .addHelpText('after', examplesText(examples))
    .optionsGroup('Help:')
    .helpOption('-h, --help', 'print this help')
    .addHelpText('after', `\n${variablesText(settings)}`)
  for (const operand of operands) command.argument(operand.syntax, operand.description)
  for (const [settingName, setting] of settings) command.addOption(new SettingOption(settingName, setting))
  command.action(async () => {
    await onCommand(specification, command.args, new SettingValues(name, command.opts<Flags>(), process.env))
  })
}

/** The command that holds those of a family; made with the first of them. */
function familyCommand(program: Command, { name, group, summary, description, examples }: CommandFamily): Command {
  const known = program.commands.find((each) => each.name() === name)
  if (known !== undefined) return known
  return program
    .command(name)
    .helpGroup(`${group}:`)
    .usage('COMMAND [options]')
    .summary(summary)
    .description(description)
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .showHelpAfterError(`"reams ${name} --help" lists its commands.`)
    .addHelpText('after', examplesText(examples))
    .addHelpText('after', `\n"reams ${name} COMMAND --help" says more about each.`)
}

/** A setting as a flag of a command. Commander gets no default: it only collects what the user gave. */
class SettingOption extends Option {
  readonly #name: SettingName

  constructor(name: SettingName, setting: Setting<unknown>) {
    const hasDefault = setting.default !== undefined && setting.default !== false
    super(setting.flag, hasDefault ? `${setting.description} (${setting.default})` : setting.description)
    this.#name = name
    this.helpGroup(`${setting.group}:`)
    if (setting.kind.isList) this.argParser<string[]>((text, before = []) => [...before, text])
  }

  /** Under which values are collected: the setting's name, and not that of a flag which two settings can share. */
  override attributeName(): string {
    return this.#name
  }
}

function variablesText([first]: readonly [SettingName, Setting<unknown>][]): string {
  const example = first === undefined ? '' : `, such as ${first[1].variable} for ${longFlag(first[1])}`
  return `Options have variables${example}; options win.`
}

function examplesText(examples: readonly Example[]): string {
  const width = Math.max(...examples.map(({ line }) => line.length))
  const lines = examples.map(({ line, purpose }) => `  ${line.padEnd(width)}  ${purpose}`)
  return ['\nExamples:', ...lines].join('\n')
}

/** The exit status of what commander ended early: help and version are done, the rest is wrong use. */
export function commanderStatus(error: CommanderError): number {
  return error.exitCode === 0 ? 0 : 2
}
