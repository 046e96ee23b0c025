#!/usr/bin/env node
// Starts Reams as an installed package. A Node that is too old is told so, before it fails on the first thing that it lacks.
import { existsSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'

if (Number.parseInt(process.versions.node, 10) < 24) {
  process.stderr.write(`reams: This is Node.js ${process.versions.node}; Reams needs 24 or newer.\n`)
  process.exit(3)
}
// With the flags of bin/reams a server needs half the memory. One of them counts only from the start of a process, so this one starts
// anew; a process that its parent talks to would lose that connection.
if (process.versions.bun === undefined) {
  const given = [...process.execArgv, process.env.NODE_OPTIONS].join(' ')
  const isAlone = process.platform !== 'win32' && process.send === undefined
  if (process.argv[2] === 'serve' && isAlone && !given.includes('--max-semi-space-size'))
    process.execve(process.execPath, [
      process.execPath,
      '--max-semi-space-size=4',
      ...process.execArgv,
      ...process.argv.slice(1),
    ])
  setFlagsFromString('--heap-growing-percent=60')
}
// Only in a clone that is linked into a project: builds what has changed since.
const setup = new URL('../scripts/setup.mjs', import.meta.url)
if (existsSync(setup)) await import(setup)
await import('../lib/cli/main.js')
