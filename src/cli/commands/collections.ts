/** `reams collections`: lists what a store holds. */

import { counted, formatCount, makeVisible } from '../../contract/message-text.ts'
import { lastPage } from '../../contract/page.ts'
import type { Following } from '../../store/following.ts'
import type { Head } from '../../store/store.ts'
import { Failure } from '../failure.ts'
import { type Listed, listWithFollowings, secondsBehind } from '../followed.ts'
import { withStore } from '../open-store.ts'
import { alignTable, formatDuration, pageCountOf, report } from '../output.ts'
import type { CliCommand, SettingValues } from '../setting-values.ts'

export const COLLECTIONS: CliCommand = {
  name: 'collections',
  group: 'Look and check',
  usage: '[options]',
  summary: 'list the collections of a store',
  description: 'Lists the collections of a store with their items, pages, key and flags, and what they follow.',
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
  const listed = await withStore(location, {}, listWithFollowings)
  const { heads, away, followings } = listed
  const json = heads.map((head) => toJson(head, followings.get(head.name)))
  const advice = `${location} has no collections. Create one: reams import NAME FILE --store ${location.word}`
  await report(settings, json, heads.length === 0 && away.length === 0 ? advice : tableOf(listed))
  if (away.length > 0)
    throw new Failure(3, `${away.join(', ')} cannot be reached, so the collections there are not listed.`)
}

function toJson(head: Head, following: Following | undefined) {
  return {
    name: head.name,
    items: head.live,
    deleted: head.next - head.live,
    pages: pageCountOf(head),
    key: head.keyField,
    paginated: head.isPaginated,
    private: head.isPrivate,
    retention_ms: head.retentionMs,
    retention_bytes: head.retentionBytes,
    follows: following === undefined ? null : followingToJson(following),
    mirrors: head.origin?.url ?? null,
  }
}

function followingToJson(following: Following) {
  const { source, waiting, asOf } = following
  return { source, waiting, as_of: new Date(asOf).toISOString(), seconds_behind: secondsBehind(following) }
}

/** `public.events in postgres://db/shop, 0 rows waiting, as of 1.2 s ago`; of a mirror, `https://…, 0 versions behind, …`. */
function followingText(following: Following, { origin }: Head): string {
  const { source, waiting } = following
  const age = formatDuration(secondsBehind(following) * 1000)
  const lag = origin === null ? `${counted(waiting, 'row')} waiting` : `${counted(waiting, 'version')} behind`
  return `${makeVisible(source)}, ${lag}, as of ${age} ago`
}

/** Items that were deleted, and whose positions are still counted. */
function deletedText({ next, live }: Head): string | false {
  return next > live && `${formatCount(next - live)} deleted`
}

function flagsOf(head: Head): (string | false)[] {
  const { isPaginated, isPrivate, retentionMs } = head
  const isForgetful = isPaginated && retentionMs === 0
  return [!isPaginated && 'unpaginated', isPrivate && 'private', isForgetful && 'no history', deletedText(head)]
}

/** A column for what is followed is there only where something is. */
function tableOf({ heads, followings }: Listed): string {
  const follows = followings.size > 0
  const followedBy = (head: Head): string => {
    const following = followings.get(head.name)
    return following === undefined ? '' : followingText(following, head)
  }
  const rows = heads.map((head) => [
    head.name,
    formatCount(head.live),
    head.isPaginated ? formatCount(lastPage(head.live)) : '-',
    head.keyField === null ? '-' : makeVisible(head.keyField),
    flagsOf(head).filter(Boolean).join(', '),
    ...(follows ? [followedBy(head)] : []),
  ])
  const titles = ['NAME', 'ITEMS', 'PAGES', 'KEY', 'FLAGS', ...(follows ? ['FOLLOWS'] : [])]
  return alignTable([titles, ...rows], [1, 2])
}
