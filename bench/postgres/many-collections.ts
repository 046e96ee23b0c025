/** A store with some collections, and clients that read and write in all of them at once. */

import { DataLocation } from '../../src/cli/data-location.ts'
import { withStore } from '../../src/cli/open-store.ts'
import { itemRun } from '../../src/items/item-run.ts'
import { allowWrites } from '../allow-writes.ts'
import { type RunningServer, WITHOUT_CACHE } from '../child-process.ts'
import { PageClient } from '../page-client.ts'
import { PostClient } from '../post-client.ts'
import type { PostgresWorkspace } from './workspace.ts'

const PAGES = 4

/** Clients of each kind. */
const CLIENTS = 16

export class ManyCollections implements AsyncDisposable {
  readonly server: RunningServer
  readonly #token: string

  private constructor(server: RunningServer, token: string) {
    this.server = server
    this.#token = token
  }

  /** Makes them, and serves them without a cache. */
  static async open(engine: PostgresWorkspace, purpose: string, names: readonly string[]): Promise<ManyCollections> {
    const path = engine.store(purpose)
    const token = await allowWrites(path)
    const items = Array.from({ length: PAGES * 500 }, (_, id) =>
      JSON.stringify({ id, name: 'A reading', seats: id * 7 }),
    )
    await withStore(new DataLocation(path), {}, async (store) => {
      for (const name of names) {
        await store.create(name)
        await store.append(name, itemRun(items))
      }
    })
    // A worker that is away makes it say so thousands of times.
    return new ManyCollections(await engine.serve(path, WITHOUT_CACHE, true), token)
  }

  /** Reads pages of these for a while, and answers how many. */
  async read(names: readonly string[], durationMs: number): Promise<number> {
    const clients = Array.from({ length: CLIENTS }, () => new PageClient(this.server.url))
    const done = await counted(clients, durationMs, async (client, turn) => {
      await client.time(`/${names[turn % names.length]}?page=${1 + (turn % PAGES)}`, 'gzip')
      return true
    })
    for (const client of clients) client[Symbol.dispose]()
    return done
  }

  /** Appends one item at a time to these for a while, and answers how many were taken. */
  async append(names: readonly string[], durationMs: number): Promise<number> {
    const clients = Array.from({ length: CLIENTS }, () => new PostClient(this.server.url, this.#token))
    const done = await counted(clients, durationMs, async (client, turn) => {
      const { status } = await client.post(names[turn % names.length] ?? '', { id: turn, name: 'A reading' })
      return status === 201
    })
    for (const client of clients) client[Symbol.dispose]()
    return done
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]()
  }
}

/** Each client asks one thing after the other. Answers how many succeeded. */
async function counted<Client>(
  clients: readonly Client[],
  durationMs: number,
  ask: (client: Client, turn: number) => Promise<boolean>,
): Promise<number> {
  const endsAt = performance.now() + durationMs
  let done = 0
  await Promise.all(
    clients.map(async (client, index) => {
      for (let turn = index; performance.now() < endsAt; turn += clients.length) if (await ask(client, turn)) done++
    }),
  )
  return done
}
