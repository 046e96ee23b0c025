/** A table as an application has it: a row an event, with a primary key. */

import type { PostgresWorkspace } from './workspace.ts'

/** In a schema for that purpose. Answers its name; the keys are the numbers from 1 on. */
export async function makeEventTable(postgres: PostgresWorkspace, purpose: string, rows: number): Promise<string> {
  const schema = postgres.schema(purpose)
  await postgres.execute(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.event (
    id bigint PRIMARY KEY, title text, starts timestamptz, venue text, price numeric(8,2), seats_left int, is_open boolean);
    INSERT INTO ${schema}.event SELECT n, 'Event ' || md5(n::text), timestamptz '2030-01-01' + n * interval '1 second',
      'venue-' || n % 97, (n * 37 % 10000) / 100.0, n % 500, n % 3 = 0 FROM generate_series(1, ${rows}) n`)
  await postgres.settle()
  return `${schema}.event`
}
