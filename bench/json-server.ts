/** json-server from npm, installed for one run: it is no dependency of this repository. */

import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { RunningServer } from './child-process.ts'
import { freePort, startAtPort } from './port.ts'
import type { Skipped } from './question.ts'
import { COLLECTION, type Workspace } from './workspace.ts'

export const JSON_SERVER = 'json-server@0.17.4'
const INSTALL = ['install', '--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund']
/** Where there is no network, npm would go on trying for minutes. */
const NO_RETRIES = ['--fetch-retries', '0', '--fetch-timeout', '20000']
const INSTALL_TIMEOUT_MS = 120_000

/** Serves the items, which are texts of JSON. */
export async function startJsonServer(
  workspace: Workspace,
  items: readonly string[],
): Promise<RunningServer | Skipped> {
  const directory = workspace.path('json-server')
  await mkdir(directory, { recursive: true })
  workspace.step(`json-server: installing ${JSON_SERVER} into a temporary directory`)
  const failure = await install(directory, workspace.signal)
  if (failure !== undefined) return { skipped: failure }
  const file = join(directory, 'items.json')
  await writeFile(file, `{"${COLLECTION}":[${items.join(',\n')}]}`)
  const port = await freePort()
  const program = join(directory, 'node_modules/json-server/lib/cli/bin.js')
  const words = ['--host', '127.0.0.1', '--port', String(port), '--quiet', file]
  const { signal } = workspace
  return startAtPort([process.execPath, program, ...words], { port, path: `/${COLLECTION}?_limit=1`, signal })
}

/** Why it failed; undefined if it did not. */
async function install(directory: string, signal: AbortSignal): Promise<string | undefined> {
  const words = [...INSTALL, ...NO_RETRIES, '--prefix', directory, JSON_SERVER]
  try {
    await promisify(execFile)('npm', words, { signal, timeout: INSTALL_TIMEOUT_MS })
    return undefined
  } catch (error) {
    signal.throwIfAborted()
    return `npm could not install ${JSON_SERVER}: ${firstLineOf(error)}`
  }
}

/** What npm itself says first, or what kept it from running. */
function firstLineOf(error: unknown): string {
  const { stderr = '', message = '' } = error as { stderr?: string; message?: string }
  return /^npm (?:error|ERR!) (.*)/m.exec(stderr)?.[1] ?? message.split('\n', 1)[0] ?? ''
}
