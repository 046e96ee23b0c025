/** What `reams push` is tried against: a real served store, servers that answer as a test wants, and a bad network. */

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { connect, createServer as createTcpServer } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import type { Limits } from '../../src/service/limits.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { CollectionSettings, Store } from '../../src/store/store.ts'
import { listenOn } from '../check/hostile-servers.ts'
import { eventLines, linesIn } from './items.ts'
import { type CliResult, type RunningCli, runInside, startCli, workDirectory } from './run-cli.ts'
import { serveStore } from './serve-inside.ts'

export const TOKEN = `reams_${'Secret-of_the-Push'.padEnd(43, 'x')}`

/** The service on a socket and a store with an empty collection `events`, which TOKEN may write. */
export async function serveEvents(
  t: TestContext,
  settings: Partial<CollectionSettings> = {},
  limits: Partial<Limits> = {},
) {
  const directory = workDirectory(t)
  const store = await createEvents(directory, settings)
  const { url } = await serveStore(t, store, { limits })
  /** The items of the collection, as NDJSON. */
  const stored = (name = 'events') => linesIn(store, name)
  return { directory, url: `${url}/events`, store, stored }
}

/** A store in `reams.db` of the directory, open. */
export async function createEvents(directory: string, settings: Partial<CollectionSettings> = {}): Promise<Store> {
  const store = await openSqliteStore({ path: join(directory, 'reams.db'), create: true })
  await store.create('events', settings)
  await addToken(store, TOKEN, ['write:events'])
  return store
}

export async function addToken(store: Store, token: string, scopes: readonly string[]): Promise<void> {
  const name = `token-${(await store.tokens()).length}`
  const times = { createdAt: Date.now(), expiresAt: null, revokedAt: null }
  await store.addToken({ name, hash: hash('sha256', token), scopes, ...times })
}

const VARIABLES = { REAMS_TOKEN: TOKEN }

export function push(directory: string, ...words: string[]): Promise<CliResult> {
  return pushInput(directory, '', ...words)
}

export function pushInput(directory: string, input: string, ...words: string[]): Promise<CliResult> {
  return runInside(['push', ...words], { in: directory, variables: VARIABLES, input })
}

export function startPush(t: TestContext, directory: string, ...words: string[]): RunningCli {
  return startCli(t, ['push', ...words], { in: directory, variables: VARIABLES })
}

interface Posted {
  readonly headers: IncomingHttpHeaders
  /** As it was sent. */
  readonly body: Buffer
  readonly items: readonly unknown[]
}

/** Answers a request; `acknowledge` answers as a server that has appended it. `number` counts requests from 1. */
export type Answering = (
  response: ServerResponse,
  acknowledge: () => void,
  number: number,
  posted: Posted,
) => void | Promise<void>

/** A server that appends to nothing and remembers every request. */
export async function record(t: TestContext, answer: Answering = (_response, acknowledge) => acknowledge()) {
  const posted: Posted[] = []
  let total = 0
  const server = createServer(async (request, response) => {
    response.on('error', () => {})
    const body = await buffer(request).catch(() => undefined)
    if (body === undefined) return
    const isPacked = request.headers['content-encoding'] === 'gzip'
    const items: unknown[] = JSON.parse((isPacked ? gunzipSync(body) : body).toString())
    const one = { headers: request.headers, body, items }
    const acknowledge = () => {
      total += items.length
      const outcome = { appended: items.length, item_count: total, version: posted.length }
      response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(outcome))
    }
    await answer(response, acknowledge, posted.push(one), one)
  })
  return { url: `${await listenOn(t, server)}/events`, posted }
}

/** A network between a push and a server that loses some answers: the connection is cut when they come. */
export async function between(t: TestContext, url: string, isLost: (answer: number) => boolean): Promise<string> {
  let answers = 0
  const proxy = createTcpServer((client) => {
    const server = connect(Number(new URL(url).port), '127.0.0.1')
    for (const socket of [client, server]) {
      socket.on('error', () => {})
      socket.on('close', () => {
        client.destroy()
        server.destroy()
      })
    }
    client.pipe(server)
    server.on('data', (piece) => {
      if (isLost(++answers)) client.resetAndDestroy()
      else client.write(piece)
    })
  })
  return `${await listenOn(t, proxy)}/events`
}

/** How many items the collection has. */
export async function countAt(url: string): Promise<number> {
  return JSON.parse(await (await fetch(url)).text()).item_count
}

/** A push that is killed at random moments, and started again until it is done, doubles nothing and loses nothing. */
export async function killPushes(t: TestContext, { items, kills }: { items: number; kills: number }): Promise<void> {
  const { directory, url, stored } = await serveEvents(t)
  writeFileSync(join(directory, 'events.ndjson'), eventLines(items))
  for (let round = 0; round < kills; round++) {
    const cli = startPush(t, directory, url, 'events.ndjson', '--batch', '20')
    const target = (await countAt(url)) + Math.floor((Math.random() * items) / 6)
    while (cli.child.exitCode === null && (await countAt(url)) < target) await sleep(1)
    cli.child.kill('SIGKILL')
    await cli.ends()
  }
  const last = await push(directory, url, 'events.ndjson', '--batch', '20')
  assert.equal(last.status, 0, last.stderr)
  assert.equal(await stored(), eventLines(items))
}
