/**
 * Finds a Chromium, or gets one. In this order: the one that REAMS_TEST_CHROMIUM names, one on the PATH, as root on Debian its
 * package, and Playwright's own, which is downloaded if need be. `none` goes without.
 */

import { execFile, execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { type Browser, chromium } from 'playwright-core'

/** The one without windows first: the tests take a third less time with it. */
const NAMES = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
  'chrome',
]
const OTHER_PLACES = ['/Applications/Google Chrome.app/Contents/MacOS/Google Chrome']
const PLAYWRIGHT = join(import.meta.dirname, '../../node_modules/playwright-core/cli.js')
/** A download of some 100 MB, or a package with all that it needs. */
const INSTALL_MS = 600_000

/** True when whoever runs the tests wants to go without a browser, and says so. */
export function isUnwanted(): boolean {
  return process.env['REAMS_TEST_CHROMIUM'] === 'none'
}

export async function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: await findChromium() })
}

/** Rejects with all that was tried. */
async function findChromium(): Promise<string> {
  const named = process.env['REAMS_TEST_CHROMIUM']
  if (named) return named
  const tried: string[] = []
  for (const way of [onThePath, debianPackage, ofPlaywright]) {
    const path = await way().catch((error: Error) => {
      tried.push(`${way.name}: ${error.message.trim().split('\n').slice(0, 3).join(' ')}`)
      return undefined
    })
    if (path !== undefined) return path
  }
  throw new Error(
    `There is no Chromium for the tests of the explorer. Install one, name one by REAMS_TEST_CHROMIUM=/path/to/chromium, or go without by REAMS_TEST_CHROMIUM=none. Tried:\n- ${tried.join('\n- ')}`,
  )
}

async function onThePath(): Promise<string> {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const places = [...NAMES.flatMap((name) => folders.map((folder) => join(folder, name))), ...OTHER_PLACES]
  for (const place of places) if (existsSync(place) && (await runs(place))) return place
  throw new Error(`none of ${NAMES.join(', ')} is there and runs`)
}

async function debianPackage(): Promise<string> {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get'))
    throw new Error('only as root, where there is apt-get')
  install('apt-get', ['update'])
  install('apt-get', ['install', '-y', '--no-install-recommends', 'chromium-headless-shell'])
  return onThePath()
}

async function ofPlaywright(): Promise<string> {
  const path = chromium.executablePath()
  if (!(await runs(path))) install(process.execPath, [PLAYWRIGHT, 'install', '--no-shell', 'chromium'])
  if (await runs(path)) return path
  throw new Error(`${path} does not run`)
}

function install(command: string, values: readonly string[]): void {
  console.log(`Getting a Chromium for the tests: ${command} ${values.join(' ')}`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  execFileSync(command, values, { timeout: INSTALL_MS, stdio: ['ignore', 'pipe', 'pipe'], env })
}

async function runs(path: string): Promise<boolean> {
  return promisify(execFile)(path, ['--version'], { timeout: 30_000 }).then(
    () => true,
    () => false,
  )
}
