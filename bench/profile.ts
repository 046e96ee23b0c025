/**
 * `node bench/profile.ts [hot|plain|304|cold]`: where the time of a server under load goes. Prints the functions with the
 * largest times of their own, and keeps the profile, for a viewer of flame graphs.
 */

import { copyFileSync, globSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Interruption } from '../src/cli/interruption.ts'
import { alignTable } from '../src/cli/output.ts'
import { lastPage } from '../src/contract/page.ts'
import { type Program, startServer, WITHOUT_CACHE } from './child-process.ts'
import { type CpuProfile, selfTimes, sharesByOwner } from './profile-times.ts'
import { LOAD_TOOL, READERS, type ReadPlan, type ReadRate, readRate } from './read-load.ts'
import { ROOT } from './recorded-run.ts'
import { COLLECTION, Workspace } from './workspace.ts'

const ITEMS = 200_000
const SECONDS = 8
const FUNCTIONS_SHOWN = 15
const KEPT_IN = 'bench/results/tmp'
const KINDS: Readonly<Record<string, string>> = {
  hot: 'one page as gzip, again and again',
  plain: 'one page, plain, again and again',
  304: 'If-None-Match of one page',
  cold: 'random pages as gzip, without a cache',
}

async function main([kind = 'hot', ...others]: readonly string[]): Promise<number> {
  if (!Object.hasOwn(KINDS, kind) || others.length > 0) {
    console.error(`Usage: node bench/profile.ts [${Object.keys(KINDS).join('|')}]`)
    return 2
  }
  using interruption = new Interruption()
  const { signal } = interruption
  const options = { items: ITEMS, requests: 100, rounds: 1, signal, onStep: (step: string) => console.error(step) }
  await using workspace = new Workspace(options)
  const directory = workspace.path('profiles')
  const { requestsASecond } = await underLoad(workspace, kind, directory)
  // The main thread has the number 0; the others write, and here nobody does.
  const [file = ''] = globSync(join(directory, '*.0.*.cpuprofile'))
  const kept = join(KEPT_IN, `${kind}.cpuprofile`)
  mkdirSync(join(ROOT, KEPT_IN), { recursive: true })
  copyFileSync(file, join(ROOT, kept))
  console.log(`${KINDS[kind]}: ${requestsASecond.toFixed(0)} requests/s, ${READERS} connections of ${LOAD_TOOL}\n`)
  console.log(tableOf(JSON.parse(readFileSync(file, 'utf8'))))
  console.error(`\nThe profile is in ${kept}: open it with the developer tools of a Chromium, or with speedscope.`)
  return 0
}

/** When this is done the server has ended, and written its profile. */
async function underLoad(workspace: Workspace, kind: string, directory: string): Promise<ReadRate> {
  const words = ['--store', (await workspace.store()).path, '--port', '0', ...(kind === 'cold' ? WITHOUT_CACHE : [])]
  await using server = await startServer(profiledServer(directory), words, workspace.signal)
  workspace.step(`${SECONDS} seconds of load: ${KINDS[kind]}`)
  return await readRate(workspace, await planOf(kind, server.url))
}

/** As `bin/reams` starts it, but for the profile. */
function profiledServer(directory: string): Program {
  const flags = ['--max-semi-space-size=4', '--cpu-prof', `--cpu-prof-dir=${directory}`]
  return [process.execPath, ...flags, join(ROOT, 'src/cli/main.ts'), 'serve']
}

async function planOf(kind: string, serverUrl: string): Promise<ReadPlan> {
  const url = `${serverUrl}/${COLLECTION}`
  const headers = { 'Accept-Encoding': kind === 'plain' ? 'identity' : 'gzip' }
  if (kind === 'cold') return { url, headers, pages: lastPage(ITEMS), seconds: SECONDS }
  if (kind !== '304') return { url, headers, seconds: SECONDS }
  const etag = (await fetch(url, { headers })).headers.get('etag') ?? ''
  return { url, headers: { ...headers, 'If-None-Match': etag }, seconds: SECONDS }
}

function tableOf(profile: CpuProfile): string {
  const times = selfTimes(profile, SECONDS)
  const percent = (share: number) => `${(share * 100).toFixed(1)} %`
  const rows = times.slice(0, FUNCTIONS_SHOWN).map(({ name, place, share }) => [percent(share), name, place])
  const owners = [...sharesByOwner(times)].map(([owner, share]) => [percent(share), owner])
  return `${alignTable([['self', 'function', ''], ...rows], [0])}\n\n${alignTable(owners, [0])}`
}

process.exitCode = await main(process.argv.slice(2))
