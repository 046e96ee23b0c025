/** Mutants whose snapshots, or the changes since, are not what they should be. */

import { grow, type Mutant, mutantOf } from './mutant.ts'

const mutant = mutantOf({ items: 1001, hasHistory: true })

export const HISTORY_MUTANTS: readonly Mutant[] = [
  mutant('The link snapshot leads to a 404.', 'D22', {
    stateAt: (_state, tag, right) => {
      throw right.notFound(`/events@${tag}`)
    },
  }),
  mutant('The link snapshot leads to another host.', 'D22', {
    historyLinks: () => ({ snapshot: { href: 'http://backend.internal/events@t0' } }),
  }),
  mutant('The link snapshot leads to the live collection.', 'D22', {
    historyLinks: (_links, _page, _asked, { baseUrl }) => ({ snapshot: { href: `${baseUrl}/events` } }),
  }),
  mutant('A snapshot shows what the collection holds by now.', 'D22', (right) => {
    let requests = 0
    return {
      answer: (asked) => {
        if (++requests === 30) grow(right)
        return right.answer(asked)
      },
      stateAt: () => right.items,
    }
  }),
  mutant('A snapshot shows other items than the page that links it, as many of them.', 'D22', {
    stateAt: (items) => items.toReversed(),
  }),
  mutant('The last page of a snapshot shows other items than the live one.', 'D22', {
    stateAt: (items) => items.with(-1, { id: 0 }),
  }),
  mutant('A page in the middle of a snapshot shows other items than the live one.', 'D22', {
    stateAt: (items) => items.with(700, { id: 0 }),
  }),
  mutant('A page in the middle of a snapshot takes itself for another one.', 'D22', {
    past: (view, _tag, isChanges, _asked, right) => {
      const { links } = view
      const selfOf = (page: number) => (page === 2 ? { self: { href: `${right.baseUrl}/${view.path}?page=3` } } : {})
      return isChanges
        ? view
        : Object.assign(view, {
            links: (...words: Parameters<typeof links>) => ({ ...links.apply(view, words), ...selfOf(words[0]) }),
          })
    },
  }),
  mutant('A snapshot does not link its changes.', 'D22', {
    snapshotLinks: (_links, _tag, right) => right.latestVersion(),
  }),
  mutant('Only the first page of a snapshot links its changes.', 'D22', {
    past: (view, tag, isChanges, _asked, right) => {
      const historyLinks = (page: number) => (page === 1 ? right.snapshotLinks(tag) : right.latestVersion())
      return isChanges ? view : Object.assign(view, { historyLinks })
    },
  }),
  mutant('Only the first live page links a snapshot.', 'D22', {
    historyLinks: (links, page) => (page === 1 ? links : {}),
  }),
  mutant('The links of a snapshot lead to live pages.', 'D22', {
    past: (view) => Object.assign(view, { path: 'events' }),
  }),
  mutant('A page beyond the last one of a snapshot is a 404.', 'D22', {
    past: (view, _tag, isChanges, asked, right) => {
      if (!isChanges && right.requestedPage(asked) > 3n) throw right.notFound(asked.path)
      return view
    },
  }),
  mutant('The items of a snapshot stand under its own name.', 'D22', {
    past: (view) => Object.assign(view, { embedded: (items: readonly unknown[]) => ({ [view.path]: items }) }),
  }),
  mutant('The ETags of a snapshot are weak.', 'D22', { past: (view) => Object.assign(view, { etag: () => 'W/"t0"' }) }),
  mutant('Snapshots and changes do not link the live collection.', 'D22', { latestVersion: () => ({}) }),
  mutant('A snapshot links changes that are a 404.', 'D22', {
    changesSince: (_changes, tag, right) => {
      throw right.notFound(`/events@${tag}..`)
    },
  }),
  mutant('The last page of changes does not link the state with which they end.', 'D22', {
    changesLinks: (_links, _isLast, right) => right.latestVersion(),
  }),
  mutant('Any tag is taken for that of the latest state.', 'D22', (right) => ({ stateAt: () => right.items })),
]
