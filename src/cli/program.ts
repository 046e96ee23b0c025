/** The program: its commands, their flags and help, and how one run of it comes to an exit status. */

import { Command, CommanderError, Option } from 'commander'
import { readVersion } from '../program-files/program-files.ts'
import { BACKUP } from './commands/backup.ts'
import { CHECK } from './commands/check.ts'
import { COLLECTIONS } from './commands/collections.ts'
import { completionCommand } from './commands/completion.ts'
import { COPY } from './commands/copy.ts'
import { DROP } from './commands/drop.ts'
import { EXPORT } from './commands/export.ts'
import { FOLLOW } from './commands/follow.ts'
import { FORGET } from './commands/forget.ts'
import { IMPORT } from './commands/import.ts'
import { MIRROR } from './commands/mirror.ts'
import { PULL } from './commands/pull.ts'
import { PUSH } from './commands/push.ts'
import { RESTORE } from './commands/restore.ts'
import { SERVE } from './commands/serve.ts'
import { SET } from './commands/set.ts'
import { TOKEN_COMMANDS } from './commands/token.ts'
import { UNFOLLOW } from './commands/unfollow.ts'
import { VERIFY } from './commands/verify.ts'
import { describeFailure } from './failure.ts'
import { Interrupted } from './interruption.ts'
import { printError } from './output.ts'
import {
  type CliCommand,
  type CommandFamily,
  type Example,
  type Flags,
  SettingValues,
  warnOfPassword,
} from './setting-values.ts'
import { SETTINGS, type Setting, type SettingName } from './settings.ts'

const WORKING_COMMANDS: readonly CliCommand[] = [
  ...[SERVE, IMPORT, FOLLOW, UNFOLLOW, MIRROR, COPY, PUSH, SET, FORGET, DROP],
  ...[BACKUP, RESTORE],
  ...TOKEN_COMMANDS,
  ...[COLLECTIONS, EXPORT, VERIFY, PULL, CHECK],
]

/** In the order in which --help lists them. */
export const COMMANDS: readonly CliCommand[] = [...WORKING_COMMANDS, completionCommand(WORKING_COMMANDS)]

export const EXAMPLES: readonly Example[] = [
  { line: 'reams serve events.ndjson', purpose: 'serve a file at once' },
  { line: 'reams import events events.ndjson', purpose: 'load a file into reams.db' },
  { line: 'reams serve', purpose: 'serve reams.db' },
]

/** Runs the command that the words name, and returns the exit status. */
export async function runProgram(words: readonly string[]): Promise<number> {
  let status = 0
  const program = createProgram(async (command, operands, settings) => {
    // `serve` has a log for it.
    if (command !== SERVE) warnOfPassword(settings, (text) => printError(`reams: ${text}`))
    status = (await command.run(operands, settings)) ?? 0
  })
  try {
    await program.parseAsync(words.length === 0 ? ['--help'] : words, { from: 'user' })
    return status
  } catch (error) {
    return reportFailure(error)
  }
}

/** Prints what went wrong, and returns the exit status for it. */
export function reportFailure(error: unknown): number {
  // Commander has printed its message already. Help and version are no failures; the rest is wrong use.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof Interrupted) {
    printError(`reams: ${error.message}; nothing was changed.`)
    return error.exitStatus
  }
  const { exitStatus, message } = describeFailure(error)
  printError(`reams: ${message}`)
  if (process.env['REAMS_DEBUG'] === '1') console.error(error)
  return exitStatus
}

type OnCommand = (command: CliCommand, operands: readonly string[], settings: SettingValues) => Promise<void>

/** `onCommand` gets the operands and values of the command that the user chose. */
export function createProgram(onCommand: OnCommand): Command {
  const program = new Command('reams')
    .description('Serves collections over HTTP, 500 items per page, with an exact count.')
    .usage('COMMAND [options]')
    .version(readVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .commandsGroup('Help:')
    .helpCommand(false)
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'reams: ')) })
    .showHelpAfterError('"reams --help" lists the commands.')
    .exitOverride()
    .addHelpText('after', examplesText(EXAMPLES))
    .addHelpText('after', '\n"reams COMMAND --help" has more about each command.')
  for (const command of COMMANDS) addCommand(program, command, onCommand)
  addHelpCommand(program)
  return program
}

/** The one of commander reads a single word: for `reams help token create` it would print the help of `token`. */
function addHelpCommand(program: Command): void {
  program
    .command('help')
    .usage('[COMMAND]')
    .description('print the help of a command')
    .argument('[COMMAND...]')
    .helpOption(false)
    .allowUnknownOption()
    .action(async (words: readonly string[]) => {
      // What the user means by `reams help serve --port` is clear enough.
      await printHelp(
        program,
        words.filter((word) => !word.startsWith('-')),
      )
    })
}

async function printHelp(command: Command, [word, ...more]: readonly string[]): Promise<void> {
  if (word === undefined) return command.help()
  const next = command.commands.find((each) => each.name() === word)
  if (next !== undefined) return await printHelp(next, more)
  // A command that has others refuses a wrong one, and says which is similar. Any other command would run.
  if (command.commands.length > 0) await command.parseAsync([word], { from: 'user' })
  return command.error(`error: '${command.name()}' has no command '${word}'`)
}

function addCommand(program: Command, specification: CliCommand, onCommand: OnCommand): void {
  const { name, family, usage, operands, settings, descriptions } = specification
  const parent = family === undefined ? program : familyCommand(program, family)
  const command = describe(parent.command(name.replace(/^.* /, '')), specification, variablesText(settings))
    .usage(usage)
    .showHelpAfterError(`"reams ${name} --help" shows how to use it.`)
    .optionsGroup('Help:')
    .helpOption('-h, --help', 'print this help')
  for (const operand of operands) command.argument(operand.syntax, operand.description)
  for (const setting of settings)
    command.addOption(new SettingOption(setting, SETTINGS[setting], descriptions?.[setting]))
  if (settings.includes('noSnapshot')) refuseLive(command)
  command.action(async () => {
    await onCommand(specification, command.args, new SettingValues(settings, command.opts<Flags>(), process.env))
  })
}

/** The former name of --no-snapshot, too different from it for commander to suggest it. */
function refuseLive(command: Command): void {
  command.addOption(new Option('--live').hideHelp())
  command.on('option:live', () => command.error("error: unknown option '--live'\n(Did you mean --no-snapshot?)"))
}

/** The command that holds those of a family; created with the first of them. */
function familyCommand(program: Command, family: CommandFamily): Command {
  const { name } = family
  const known = program.commands.find((each) => each.name() === name)
  if (known !== undefined) return known
  return describe(program.command(name), family, `"reams ${name} COMMAND --help" has more about each command.`)
    .usage('COMMAND [options]')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .showHelpAfterError(`"reams ${name} --help" lists its commands.`)
}

function describe(command: Command, { group, summary, description, examples }: CommandFamily, last: string): Command {
  return command
    .helpGroup(`${group}:`)
    .summary(summary)
    .description(description)
    .addHelpText('after', examplesText(examples))
    .addHelpText('after', `\n${last}`)
}

/** A setting as a flag of a command. Commander gets no default: it only collects what the user gave. */
class SettingOption extends Option {
  readonly #name: SettingName

  constructor(name: SettingName, setting: Setting, description = setting.description) {
    const hasDefault = setting.default !== undefined && setting.default !== false
    super(setting.flag, hasDefault ? `${description} (${setting.default})` : description)
    this.#name = name
    // For commander `--no-snapshot` is the opposite of `--snapshot`, and true unless it is given.
    this.negate = false
    this.helpGroup(`${setting.group}:`)
    if (setting.kind.isList) this.argParser<string[]>((text, before = []) => [...before, text])
  }

  /** The name under which values are collected: that of the setting, since two settings can share a flag. */
  override attributeName(): string {
    return this.#name
  }
}

function variablesText([first]: readonly SettingName[]): string {
  if (first === undefined) return '"reams --help" lists the commands.'
  return `Variables such as ${SETTINGS[first].variable} set options too; the command line wins.`
}

function examplesText(examples: readonly Example[]): string {
  const width = Math.max(...examples.map(({ line }) => line.length))
  const lines = examples.map(({ line, purpose }) => `  ${line.padEnd(width)}  ${purpose}`)
  return ['\nExamples:', ...lines].join('\n')
}
