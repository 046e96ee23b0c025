/** The store that is served under fuzz: a few collections of every kind, and tokens of every kind. */

import { hash } from 'node:crypto'
import { withStore } from '../../src/cli/open-store.ts'
import { StoreLocation } from '../../src/cli/store-location.ts'
import { itemRun } from '../../src/items/item-run.ts'
import type { Store } from '../../src/store/store.ts'
import { EVENT_COUNT, EVENTS, LOG, SECRET, SECRETS, STILL, TOKENS, VENUES } from './site.ts'

export function makeStore(path: string): Promise<void> {
  return withStore(new StoreLocation(path), { create: true }, async (store) => {
    const events = numbered(EVENT_COUNT, '"name":"Item"')
    await fill(store, EVENTS, events, { keyField: 'id' })
    await fill(store, STILL, events, { keyField: 'id' })
    await fill(store, LOG, [])
    await fill(store, VENUES, numbered(20, '"name":"Hall"'), { isPaginated: false })
    await fill(store, SECRETS, numbered(20, `"text":"${SECRET}"`), { keyField: 'id', isPrivate: true })
    const dates = { createdAt: 0, expiresAt: null, revokedAt: null }
    for (const [name, { token, ...rest }] of Object.entries(TOKENS))
      await store.addToken({ name, hash: hash('sha256', token), ...dates, ...rest })
  })
}

function numbered(count: number, member: string): string[] {
  return Array.from({ length: count }, (_, index) => `{"id":${index + 1},${member}}`)
}

async function fill(
  store: Store,
  name: string,
  items: readonly string[],
  settings: Parameters<Store['create']>[1] = {},
): Promise<void> {
  const { keyField } = await store.create(name, settings)
  await store.append(name, itemRun(items, { keyField }))
}
