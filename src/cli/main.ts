/** The entry point of the program. Before anything else is loaded, a Bun that lacks what that needs is told so. */

const OLDEST_BUN = '1.4'

const [major = 0, minor = 0] = (process.versions['bun'] ?? OLDEST_BUN).split('.').map(Number)
if (major === 1 && minor < 4) {
  process.stderr.write(`reams: This is Bun ${process.versions['bun']}; Reams needs ${OLDEST_BUN} or newer.\n`)
  process.exit(3)
}

void import('./program.ts').then(async ({ reportFailure, runProgram }) => {
  // What no command caught must not end as a stack trace either.
  process.on('uncaughtException', (error) => process.exit(reportFailure(error)))
  // `print` and `export` see what becomes of their writes; without a listener a reader that has gone would be thrown.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => {})
  process.exitCode = await runProgram(process.argv.slice(2))
})
