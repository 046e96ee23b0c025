/** A service's day in small: readers, writers, imports, backups and broken connections, each at its own fixed pace. */

import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { REAMS, runProgram } from '../../bench/child-process.ts'
import { eventKey, writeEvents } from '../../bench/data.ts'
import { createRandom } from '../../bench/random.ts'
import { PAGE_SIZE } from '../../src/contract/page.ts'
import { type Answer, Connection, type Question } from '../faults/connection.ts'

/** More than the cache of the server holds. */
const CATALOGUE_ITEMS = 500_000
const EVENTS = 20_000
/** The nightly file, with these many items by turns. */
const NIGHTLY_ITEMS = [20_000, 15_000] as const
const APPENDED_AT_ONCE = 5
const PIPELINED = 50
const PATCHED_AT_ONCE = 10
const JSON_TYPE = 'application/json'
const BROWSER = { Accept: 'text/html,application/xhtml+xml' }

/** What was done so far, by kind, and every answer that was none of those that may come. */
export interface Done {
  readonly counts: Map<string, number>
  readonly unexpected: string[]
}

export class SoakLoad {
  readonly done: Done = { counts: new Map(), unexpected: [] }
  readonly #directory: string
  readonly #store: string
  readonly #signal: AbortSignal
  readonly #random = createRandom(1)
  /** The keys in `events`, in any order. */
  readonly #keys = Array.from({ length: EVENTS }, (_, index) => eventKey(index))
  #nextId = EVENTS
  #imports = 0
  #backups = 0
  #scratchItems = 0

  /** The signal ends everything at once, and nothing is exact then. */
  constructor(directory: string, signal: AbortSignal) {
    this.#directory = directory
    this.#signal = signal
    this.#store = join(directory, 'soak.db')
  }

  get storeWords(): string[] {
    return ['--store', this.#store]
  }

  /** How many items each collection must have now. */
  get itemCounts(): Readonly<Record<string, number>> {
    const nightly = NIGHTLY_ITEMS[this.#imports % 2] ?? 0
    return { catalogue: CATALOGUE_ITEMS, events: this.#keys.length, nightly, scratch: this.#scratchItems }
  }

  async prepare(): Promise<void> {
    const files = {
      catalogue: CATALOGUE_ITEMS,
      events: EVENTS,
      'nightly-0': NIGHTLY_ITEMS[0],
      'nightly-1': NIGHTLY_ITEMS[1],
    }
    for (const [name, items] of Object.entries(files)) await writeEvents(this.#file(`${name}.ndjson`), items)
    for (const name of ['catalogue', 'events'])
      await this.#reams('import', name, this.#file(`${name}.ndjson`), '--key', 'id')
    await this.#import()
  }

  /** Until it is over. Everything that was begun is ended, so that the counts are exact. */
  async run(url: string, adminUrl: string, token: string, over: AbortSignal): Promise<void> {
    const every = async (kind: string, ms: number, work: (connection: Connection) => Promise<void>): Promise<void> => {
      using connection = new Connection(url, token)
      while (!over.aborted) {
        const next = performance.now() + ms
        await work(connection).catch((error: Error) => this.#isUnexpected(`${kind}: ${error.message}`))
        this.done.counts.set(kind, (this.done.counts.get(kind) ?? 0) + 1)
        await sleep(Math.max(0, next - performance.now()), undefined, { signal: over }).catch(() => {})
      }
    }
    await Promise.all([
      every('hot pages', 50, (connection) => this.#read(connection, '/catalogue')),
      every('cold pages', 50, (connection) => this.#read(connection, `/catalogue?page=${this.#coldPage()}`)),
      every('changing pages', 100, (connection) => this.#readTwoAtOnce(connection, url, token)),
      every('items', 50, (connection) =>
        this.#read(connection, `/catalogue/${eventKey(this.#random(CATALOGUE_ITEMS))}`),
      ),
      every('HTML', 1_000, (connection) => this.#read(connection, `/events?page=${1 + this.#random(40)}`, BROWSER)),
      every('unchanged', 100, (connection) => this.#readUnchanged(connection)),
      every('new connections', 200, async () => {
        using connection = new Connection(url, token)
        await this.#read(connection, '/')
      }),
      every('broken connections', 500, () => this.#breakConnection(url, token)),
      every('rounds of writes', 500, (connection) => this.#write(connection)),
      every('collections dropped', 5_000, (connection) => this.#dropAndCreate(connection)),
      every('metrics', 5_000, async () => {
        using connection = new Connection(adminUrl, token)
        await this.#read(connection, '/metrics')
      }),
      every('imports', 30_000, () => this.#import()),
      every('backups', 60_000, () => this.#backUp()),
    ])
  }

  #isUnexpected(what: string): void {
    this.done.unexpected.push(`${new Date().toISOString()} ${what}`)
  }

  #file(name: string): string {
    return join(this.#directory, name)
  }

  async #reams(...words: string[]): Promise<void> {
    await runProgram(REAMS, [...words, ...this.storeWords], this.#signal)
  }

  #coldPage(): number {
    return 1 + this.#random(CATALOGUE_ITEMS / PAGE_SIZE)
  }

  async #ask(connection: Connection, question: Question, expected: number): Promise<Answer> {
    const answer = await connection.ask(question)
    if (answer.status !== expected)
      this.#isUnexpected(`${question.method} ${question.path} answers ${answer.status}: ${answer.body.slice(0, 300)}`)
    return answer
  }

  /** Gzipped every other time. */
  async #read(connection: Connection, path: string, headers: Readonly<Record<string, string>> = {}): Promise<void> {
    const encoding = this.#random(2) === 0 ? 'gzip' : 'identity'
    await this.#ask(connection, { method: 'GET', path, headers: { 'Accept-Encoding': encoding, ...headers } }, 200)
  }

  /** The second is read on the thread for pages, whose memory so has its size within minutes. */
  async #readTwoAtOnce(connection: Connection, url: string, token: string): Promise<void> {
    using other = new Connection(url, token)
    const read = (each: Connection) => this.#read(each, `/events?page=${1 + this.#random(40)}`)
    await Promise.all([read(connection), read(other)])
  }

  async #readUnchanged(connection: Connection): Promise<void> {
    const path = `/catalogue?page=${1 + this.#random(10)}`
    const { etag = '' } = await this.#ask(connection, { method: 'HEAD', path }, 200)
    await this.#ask(connection, { method: 'GET', path, headers: { 'If-None-Match': etag } }, 304)
  }

  /** As many items come as go. One append in five is sent again, as after a lost answer. */
  async #write(connection: Connection): Promise<void> {
    const ids = Array.from({ length: APPENDED_AT_ONCE }, () => eventKey(this.#nextId++))
    const append: Question = {
      method: 'POST',
      path: '/events',
      type: JSON_TYPE,
      body: JSON.stringify(ids.map((id) => ({ id: Number(id), title: `Event ${id}` }))),
      headers: { 'Idempotency-Key': randomUUID() },
    }
    await this.#ask(connection, append, 201)
    if (this.#random(5) === 0) await this.#ask(connection, append, 201)
    this.#keys.push(...ids)
    const replaced = this.#keys[this.#random(this.#keys.length)] ?? ''
    const body = `{"id":${replaced},"title":"${randomUUID()}"}`
    await this.#ask(connection, { method: 'PUT', path: `/events/${replaced}`, type: JSON_TYPE, body }, 200)
    for (let deleted = 0; deleted < APPENDED_AT_ONCE; deleted++) {
      const [key] = this.#keys.splice(this.#random(this.#keys.length), 1)
      await this.#ask(connection, { method: 'DELETE', path: `/events/${key}` }, 204)
    }
    await this.#patch(connection)
  }

  /** Deletes an item, replaces another and appends one, several times in one request. */
  async #patch(connection: Connection): Promise<void> {
    const changes: string[] = []
    for (let turn = 0; turn < PATCHED_AT_ONCE; turn++) {
      const [deleted = ''] = this.#keys.splice(this.#random(this.#keys.length), 1)
      changes.push(`{"op":"delete","key":"${deleted}"}`)
      const added = eventKey(this.#nextId++)
      for (const id of [this.#keys[this.#random(this.#keys.length)], added])
        changes.push(`{"op":"put","item":{"id":${id},"title":"${randomUUID()}"}}`)
      this.#keys.push(added)
    }
    const body = changes.join('\n')
    await this.#ask(connection, { method: 'PATCH', path: '/events', type: 'application/x-ndjson', body }, 200)
  }

  async #dropAndCreate(connection: Connection): Promise<void> {
    const path = '/scratch'
    const { status, etag = '' } = await connection.ask({ method: 'HEAD', path })
    if (status === 200) await this.#ask(connection, { method: 'DELETE', path, headers: { 'If-Match': etag } }, 204)
    this.#scratchItems = 1 + this.#random(PAGE_SIZE * 3)
    await this.#ask(connection, { method: 'PUT', path, type: JSON_TYPE, body: '{}' }, 201)
    const body = '{"a":1}\n'.repeat(this.#scratchItems)
    await this.#ask(connection, { method: 'POST', path, type: 'application/x-ndjson', body }, 201)
  }

  /** By turns: no request at all, a body that stops halfway, and many responses of which only the first bytes are read. */
  async #breakConnection(url: string, token: string): Promise<void> {
    const get = `GET /catalogue?page=${this.#coldPage()} HTTP/1.1\r\nHost: a\r\n\r\n`
    const post = `POST /events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nContent-Type: ${JSON_TYPE}\r\nContent-Length: 1000\r\n\r\n[{"id":1`
    const sent = ['', post, get.repeat(PIPELINED)][this.#random(3)] ?? ''
    const { hostname: host, port } = new URL(url)
    await new Promise<void>((resolve, reject) => {
      const socket = connect({ host, port: Number(port) }, () => {
        socket.write(sent)
        setTimeout(() => socket.destroy(), this.#random(1_000))
        if (sent.startsWith('GET')) socket.once('data', () => socket.pause())
      })
      socket.once('close', () => resolve()).once('error', reject)
    })
  }

  async #import(): Promise<void> {
    const file = this.#file(`nightly-${(this.#imports + 1) % 2}.ndjson`)
    await this.#reams('import', 'nightly', file, '--key', 'id', '--replace')
    this.#imports++
  }

  async #backUp(): Promise<void> {
    await this.#reams('backup', this.#file(`backup-${this.#backups + 1}.db`))
    rmSync(this.#file(`backup-${this.#backups++}.db`), { force: true })
  }
}
