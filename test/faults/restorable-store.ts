/** The place of a store that can be put back to how it was: a file, or a database of its own. Nobody serves it meanwhile. */

import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type PostgresCluster, untilItWorks } from '../store/postgres-cluster.ts'

export interface RestorableStore {
  /** As `--store` takes it. */
  readonly location: string
  /** Keeps a copy of it as it is. A later one takes its place. */
  copy(): Promise<void>
  /** Puts the copy in its place. */
  putBack(): Promise<void>
  /** Leaves nothing, so that `reams restore` can make it anew. */
  remove(): Promise<void>
}

/** What belongs to a store in a file; the third one, `-shm`, is made anew. */
const ENDINGS = ['', '-wal']

export class FileStore implements RestorableStore {
  readonly location: string
  readonly #copy: string

  constructor(directory: string) {
    const own = mkdtempSync(join(directory, 'store-'))
    this.location = join(own, 'reams.db')
    this.#copy = join(own, 'copy.db')
  }

  async copy(): Promise<void> {
    copyFiles(this.location, this.#copy)
  }

  async putBack(): Promise<void> {
    await this.remove()
    copyFiles(this.#copy, this.location)
  }

  async remove(): Promise<void> {
    for (const ending of [...ENDINGS, '-shm', '-reserve']) rmSync(this.location + ending, { force: true })
  }
}

function copyFiles(from: string, to: string): void {
  for (const ending of ENDINGS) {
    rmSync(to + ending, { force: true })
    if (existsSync(from + ending)) copyFileSync(from + ending, to + ending)
  }
}

export class DatabaseStore implements RestorableStore {
  readonly location: string
  readonly #cluster: PostgresCluster
  readonly #name: string

  private constructor(cluster: PostgresCluster, name: string) {
    this.#cluster = cluster
    this.#name = name
    const url = new URL(cluster.url())
    url.pathname = name
    this.location = url.href
  }

  static async create(cluster: PostgresCluster): Promise<DatabaseStore> {
    const store = new DatabaseStore(cluster, `own_${cluster.newSchema()}`)
    await store.#make(store.#name)
    return store
  }

  async copy(): Promise<void> {
    await this.#drop(`${this.#name}_copy`)
    await this.#make(`${this.#name}_copy`, this.#name)
  }

  async putBack(): Promise<void> {
    await this.#drop(this.#name)
    await this.#make(this.#name, `${this.#name}_copy`)
  }

  async remove(): Promise<void> {
    await this.#drop(this.#name)
    await this.#make(this.#name)
  }

  /** The processes of a server that was killed may still work for it: they are ended. */
  async #make(name: string, template = 'template0'): Promise<void> {
    await using client = await this.#cluster.connect()
    await untilItWorks(async () => {
      await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [template])
      await client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`)
    })
  }

  async #drop(name: string): Promise<void> {
    await using client = await this.#cluster.connect()
    await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
  }
}
