/** A program that restarts itself once, and prints what it was started with. */

import { restartProgram } from '../src/program-files/program-files.ts'

if (process.env['RESTARTED'] === undefined) restartProgram({ RESTARTED: 'yes' })
console.log(JSON.stringify([process.execArgv, process.argv.slice(2), process.env['KEPT'], process.env['RESTARTED']]))
