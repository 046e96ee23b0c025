/** Reads all items of a server in three ways: by a walk, by a pull, and by a mirror of it. */

import { after, type TestContext } from 'node:test'
import { openCollection } from '../../src/client/index.ts'
import { Mirror } from '../../src/mirror/mirror.ts'
import { Origin } from '../../src/mirror/origin.ts'
import { type CorrectServer, startServer } from '../check/correct-server.ts'
import { NO_LIMITS } from '../mirror/origin-and-mirror.ts'
import { readItems } from '../store/store-reading.ts'
import { openTestStore } from '../store/test-store.ts'

/** Starts a server for one test, and returns the URL of its collection. */
export async function start(t: TestContext, server: CorrectServer): Promise<string> {
  const { url, close } = await startServer(server)
  t.after(close)
  return url
}

const NO_RETRY = { retry: { retries: 0 } }

export async function walked(url: string): Promise<unknown[]> {
  return Array.fromAsync(openCollection(url, NO_RETRY).items())
}

export async function pulled(url: string): Promise<unknown[]> {
  const texts: string[] = []
  const decoder = new TextDecoder()
  await openCollection(url, NO_RETRY).pull({
    page: (page, { first }) => void texts.push(...Array.from(page.texts(first), (text) => decoder.decode(text))),
    restart: () => void texts.splice(0),
  })
  return texts.map((text) => JSON.parse(text))
}

const { store, remove } = await openTestStore()
let mirrors = 0
after(() => remove())

export async function mirrored(url: string): Promise<unknown[]> {
  const name = `mirror-${++mirrors}`
  const { signal } = new AbortController()
  const origin = new Origin(url, NO_RETRY, signal)
  const options = { name, keyField: undefined, everyMs: 10, waitSeconds: 1, isOnce: true, itemBytes: 1_000_000 }
  const onEvent = () => {}
  await new Mirror(store, origin, { ...options, limits: NO_LIMITS, open: async () => origin, onEvent }, signal).run()
  return (await readItems(store, name)).map((text) => JSON.parse(text))
}
