/** The program: runs the command that was asked for and sets the exit status. */

import { CommanderError } from 'commander'
import { COMMANDS } from './commands.ts'
import { describeFailure } from './failure.ts'
import { Interrupted } from './interruption.ts'
import { printError } from './output.ts'
import { commanderStatus, createProgram } from './program.ts'
import type { SettingValues } from './setting-values.ts'
import { readVersion } from './version.ts'

/** Answers the exit status. */
async function main(words: readonly string[]): Promise<number> {
  let status = 0
  const program = createProgram({
    version: readVersion(),
    commands: COMMANDS,
    onCommand: async (command, operands, settings) => {
      warnOfPassword(settings)
      status = await command.run(operands, settings)
    },
  })
  try {
    await program.parseAsync(words.length === 0 ? ['--help'] : words, { from: 'user' })
    return status
  } catch (error) {
    return failed(error)
  }
}

/** What is in the arguments of a process, any user of the machine can read. */
function warnOfPassword(settings: SettingValues): void {
  for (const name of ['store', 'from', 'to'] as const)
    if (settings.origin(name) === 'flag' && settings.get(name)?.hasPassword)
      printError(
        `reams: Others can read the password in --${name}, in the list of processes. Give it by REAMS_${name.toUpperCase()}, PGPASSWORD or ~/.pgpass instead.`,
      )
}

function failed(error: unknown): number {
  // Commander has said what is wrong already.
  if (error instanceof CommanderError) return commanderStatus(error)
  if (error instanceof Interrupted) {
    printError(`reams: ${error.message}; nothing was changed.`)
    return error.exitStatus
  }
  const { exitStatus, message } = describeFailure(error)
  printError(`reams: ${message}`)
  if (process.env['REAMS_DEBUG'] === '1') console.error(error)
  return exitStatus
}

// What no command caught must not end as a stack trace either.
process.on('uncaughtException', (error) => process.exit(failed(error)))
// `print` and `export` see what becomes of their writes; without a listener a reader that has gone would be thrown.
for (const output of [process.stdout, process.stderr]) output.on('error', () => {})

process.exitCode = await main(process.argv.slice(2))
