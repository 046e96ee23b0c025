/** `reams collections`: lists what a store holds. */

import { counted, formatCount, makeVisible } from '../../contract/message-text.ts'
import { lastPage } from '../../contract/page.ts'
import type { Head } from '../../store/store.ts'
import { Failure } from '../failure.ts'
import { withStore } from '../open-store.ts'
import { alignTable, print } from '../output.ts'
import type { CliCommand, SettingValues } from '../setting-values.ts'

export const COLLECTIONS: CliCommand = {
  name: 'collections',
  group: 'Look and check',
  usage: '[options]',
  summary: 'list the collections of a store',
  description: 'Lists the collections of a store with their items, pages, key and flags.',
  operands: [],
  settings: ['store', 'json'],
  examples: [
    { line: 'reams collections --store my.db', purpose: 'as a table' },
    { line: 'reams collections --json', purpose: 'for a program' },
  ],
  run: runCollections,
}

async function runCollections(_operands: readonly string[], settings: SettingValues): Promise<undefined> {
  const location = settings.get('store')
  const { heads, away } = await withStore(location, {}, (store) => store.reachable())
  if (settings.get('json')) await print(JSON.stringify(heads.map(toJson), null, 2))
  else if (heads.length === 0 && away.length === 0)
    await print(`${location} has no collections. Create one: reams import NAME FILE --store ${location.word}`)
  else await print(tableOf(heads))
  if (away.length > 0)
    throw new Failure(3, `${away.join(', ')} cannot be reached, so the collections there are not listed.`)
}

function toJson(head: Head) {
  return {
    name: head.name,
    items: head.live,
    holes: head.next - head.live,
    pages: head.isPaginated ? lastPage(head.live) : null,
    key: head.keyField,
    paginated: head.isPaginated,
    private: head.isPrivate,
    retention_ms: head.retentionMs,
    retention_bytes: head.retentionBytes,
  }
}

/** Positions whose items are gone. */
function holesOf({ next, live }: Head): string | false {
  return next > live && counted(next - live, 'hole')
}

function flagsOf(head: Head): (string | false)[] {
  const { isPaginated, isPrivate, retentionMs } = head
  const isForgetful = isPaginated && retentionMs === 0
  return [!isPaginated && 'unpaginated', isPrivate && 'private', isForgetful && 'no history', holesOf(head)]
}

function tableOf(heads: readonly Head[]): string {
  const rows = heads.map((head) => [
    head.name,
    formatCount(head.live),
    head.isPaginated ? formatCount(lastPage(head.live)) : '-',
    head.keyField === null ? '-' : makeVisible(head.keyField),
    flagsOf(head).filter(Boolean).join(', '),
  ])
  return alignTable([['NAME', 'ITEMS', 'PAGES', 'KEY', 'FLAGS'], ...rows], [1, 2])
}
