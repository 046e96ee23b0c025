/** The entry point of the program. */

import { reportFailure, runProgram } from './program.ts'

// What no command caught must not end as a stack trace either.
process.on('uncaughtException', (error) => process.exit(reportFailure(error)))
// `print` and `export` see what becomes of their writes; without a listener a reader that has gone would be thrown.
for (const output of [process.stdout, process.stderr]) output.on('error', () => {})

void runProgram(process.argv.slice(2)).then((status) => {
  process.exitCode = status
})
