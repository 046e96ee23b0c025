/**
 * A PostgreSQL server for tests: the one that REAMS_TEST_POSTGRES names, or one that npm brought, started in a directory
 * of its own and removed at the end.
 */

import { after, describe } from 'node:test'
import { TemporaryDirectory } from '../../src/cli/temporary-directory.ts'
import { CITUS, NO_CITUS } from './citus-server.ts'
import { PostgresCluster, type PostgresVersion } from './postgres-cluster.ts'

export interface PostgresServer {
  /** With a user that may do everything, and a database. */
  readonly url: string
  /** Stops the server, and removes it. */
  stop(): Promise<void>
}

export interface OwnPostgresServer extends PostgresServer {
  /** Stops the server and keeps its data: `start` goes on with them, on the same port. */
  halt(): Promise<void>
  start(): Promise<void>
}

/** Tests kill processes, not machines: what the kernel has is safe. */
const SETTINGS = ['fsync=off', 'max_connections=200']

export async function startPostgres(): Promise<PostgresServer> {
  const given = process.env['REAMS_TEST_POSTGRES']
  if (given !== undefined && given !== '') return { url: given, stop: async () => {} }
  return startOwnPostgres()
}

/** `isCitus` is for tests that would tell nothing new there. */
type Define = (start: () => Promise<PostgresServer>, isCitus: boolean) => void

/** Describes the same twice: on PostgreSQL, and on the Citus that REAMS_TEST_CITUS names. Servers are stopped at the end. */
export function describePostgres(title: string, define: Define): void {
  describe(title, () => {
    let starting: Promise<PostgresServer> | undefined
    const start = async () => {
      starting ??= startPostgres()
      return { url: (await starting).url, stop: async () => {} }
    }
    define(start, false)
    // Behind the hooks of the suite, which may need it to the end.
    after(async () => (await starting)?.stop())
  })
  describe(`${title}, on Citus`, { skip: NO_CITUS }, () => define(async () => CITUS, true))
}

/** For tests that stop the server, or need another version of it, or settings: `max_connections=10`. */
export async function startOwnPostgres(
  settings: readonly string[] = [],
  version?: PostgresVersion,
): Promise<OwnPostgresServer> {
  const directory = new TemporaryDirectory()
  try {
    const cluster = await PostgresCluster.create(directory.path, [...SETTINGS, ...settings], [], version)
    return {
      url: cluster.url(),
      start: () => cluster.start(),
      halt: () => cluster.stop(),
      async stop() {
        await cluster[Symbol.asyncDispose]()
        directory[Symbol.dispose]()
      },
    }
  } catch (error) {
    directory[Symbol.dispose]()
    throw error
  }
}
