/** A PostgreSQL that npm brought, watched over by a process of its own: it prints its URL, and is told to stop by SIGTERM. */

import { startOwnPostgres } from '../../test/store/postgres-server.ts'

/** As somebody sets them who runs a database on a machine of some size. Commits are durable. */
const SETTINGS = ['fsync=on', 'shared_buffers=1GB', 'max_wal_size=8GB']

const LOOK_EVERY_MS = 1_000

const server = await startOwnPostgres(SETTINGS)
const parent = process.ppid

// The bench is interrupted as well, and then says when to stop.
process.on('SIGINT', () => {})
process.once('SIGTERM', stop)
// Nor shall it stay when the bench was killed.
const look = setInterval(() => process.ppid === parent || stop(), LOOK_EVERY_MS)
console.log(server.url)

function stop(): void {
  clearInterval(look)
  void server.stop()
}
