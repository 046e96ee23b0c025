/**
 * The connections to one server that holds collections, and what works with them. On Citus each worker has connections of its
 * own: whatever waits for one that hangs, or is away, keeps nobody waiting who asks for a collection on another.
 */

import { Connections } from './connection.ts'
import { PageReader } from './page-reader.ts'
import { SharedReads } from './shared-reads.ts'
import type { StoreUrl } from './store-url.ts'
import type { EncodeReam } from './write-draft.ts'
import { Writer } from './writer.ts'

export interface NodeOptions {
  readonly url: StoreUrl
  readonly readConnections: number
  readonly writeConnections: number
  readonly statementMs: number
  readonly encode: EncodeReam
  /** Removes what others left behind, if all of it can be reached. */
  readonly sweep: () => Promise<void>
}

/** For what takes long: loads, exports, checks. */
const LONG_CONNECTIONS = 8
const LONG_STATEMENT_MS = 600_000

export class DatabaseNode {
  readonly reads: Connections
  readonly writes: Connections
  readonly long: Connections
  readonly shared: SharedReads
  readonly pages: PageReader
  readonly writer: Writer

  constructor({ url, readConnections, writeConnections, statementMs, encode, sweep }: NodeOptions) {
    this.reads = new Connections(url, { mostConnections: readConnections, statementMs })
    this.writes = new Connections(url, { mostConnections: writeConnections, isPipelined: true, statementMs })
    this.long = new Connections(url, {
      mostConnections: LONG_CONNECTIONS,
      isPipelined: true,
      statementMs: LONG_STATEMENT_MS,
    })
    this.shared = new SharedReads(this.reads)
    this.pages = new PageReader(this.reads, this.shared)
    this.writer = new Writer(this.writes, url, encode, sweep)
  }

  async close(): Promise<void> {
    await this.writer.close()
    await Promise.all([this.reads.close(), this.writes.close(), this.long.close()])
  }
}
