/** Copies the lines of a file into a table: with psql where it is installed, else the same statement through `pg`. */

import { execFile } from 'node:child_process'
import { createReadStream } from 'node:fs'
import type { Duplex } from 'node:stream'
import { promisify } from 'node:util'
import { Client, Query } from 'pg'
import { type Program, runProgram } from '../child-process.ts'

const CHUNK_BYTES = 1 << 20

/** What the driver's connection has for it. */
interface CopyConnection {
  readonly stream: Duplex
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
}

/** The version that was found, or undefined. */
export async function findPsql(): Promise<string | undefined> {
  const run = promisify(execFile)
  return run('psql', ['--version']).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  )
}

/** Answers how long it took: with psql the whole process, else from the connection to its end. */
export async function copyLines(url: string, table: string, file: string, signal: AbortSignal): Promise<number> {
  if ((await findPsql()) !== undefined) {
    const psql: Program = ['psql', '--no-psqlrc', '--quiet', '--set', 'ON_ERROR_STOP=1', '--dbname', url]
    return (await runProgram(psql, ['--command', `\\copy ${table} FROM '${file}'`], signal)).wallMs
  }
  const startedAt = performance.now()
  const client = new Client(url)
  await client.connect()
  try {
    await sendFile(client, `COPY ${table} FROM STDIN`, file)
  } finally {
    await client.end()
  }
  return performance.now() - startedAt
}

/** The driver itself has only the messages for it. */
async function sendFile(client: Client, text: string, file: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const query = new Query(text)
  query.on('end', () => resolve())
  query.on('error', reject)
  const copy = Object.assign(query, {
    async handleCopyInResponse(connection: CopyConnection) {
      for await (const chunk of createReadStream(file, { highWaterMark: CHUNK_BYTES })) {
        connection.sendCopyFromChunk(chunk)
        if (connection.stream.writableNeedDrain)
          await new Promise<void>((resume) => connection.stream.once('drain', () => resume()))
      }
      connection.endCopyFrom()
    },
  })
  client.query(copy)
  await promise
}
