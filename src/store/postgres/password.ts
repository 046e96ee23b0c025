/** The password from the file that psql reads too: ~/.pgpass, or the one that PGPASSFILE names. */

import type { PoolConfig } from 'pg'
import readPassword from 'pgpass'

/** Asked only when a server wants a password. */
export function passwordFromFile(connection: PoolConfig & { readonly user: string }): () => Promise<string> {
  const { user } = connection
  const target = {
    user,
    host: connection.host ?? process.env['PGHOST'] ?? 'localhost',
    port: connection.port ?? Number(process.env['PGPORT'] ?? 5432),
    database: connection.database ?? process.env['PGDATABASE'] ?? user,
  }
  return () => new Promise((resolve) => readPassword(target, (password) => resolve(password ?? '')))
}
