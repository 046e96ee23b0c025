/** Names in the SQL of PostgreSQL and SQLite. */

/** A name as SQL wants it. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
