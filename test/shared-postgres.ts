/** One PostgreSQL for all test files of a run, each with schemas of its own: to make one takes longer than most tests. */

import { type OwnPostgresServer, startOwnPostgres } from './store/postgres-server.ts'

let server: OwnPostgresServer | undefined

export async function globalSetup(): Promise<void> {
  if (process.env['REAMS_TEST_POSTGRES']) return
  server = await startOwnPostgres()
  process.env['REAMS_TEST_POSTGRES'] = server.url
}

export async function globalTeardown(): Promise<void> {
  await server?.stop()
}
