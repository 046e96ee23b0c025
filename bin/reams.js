#!/usr/bin/env node
// Starts Reams as an installed package. A Node that is too old is told so, before it fails on the first thing that it lacks.
import { existsSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'

if (Number.parseInt(process.versions.node, 10) < 24) {
  process.stderr.write(`reams: This is Node.js ${process.versions.node}; Reams needs 24 or newer.\n`)
  process.exit(3)
}
// As in bin/reams; the other flag there counts only from the start of a process.
if (process.versions.bun === undefined) setFlagsFromString('--heap-growing-percent=60')
// Only in a clone that is linked into a project: builds what has changed since.
const setup = new URL('../scripts/setup.mjs', import.meta.url)
if (existsSync(setup)) await import(setup)
await import('../lib/cli/main.js')
