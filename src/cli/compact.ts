/** `reams compact NAME`: closes the holes that deleted items left, so that pages are read as they lie again. */

import type { CliCommand } from './command.ts'
import { compactCollection } from './compact-collection.ts'
import { existingHead } from './existing-head.ts'
import { formatCount, formatDuration } from './figures.ts'
import { Interruption } from './interruption.ts'
import { withStore } from './open-store.ts'
import { print } from './output.ts'
import { startProgress } from './progress.ts'
import type { SettingValues } from './setting-values.ts'
import { sizeOf } from './size.ts'

export const COMPACT: CliCommand = {
  name: 'compact',
  group: 'Load and change',
  usage: 'NAME [options]',
  summary: 'close the holes that deleted items left',
  description: `Writes a collection anew without the holes that deleted items left: pages behind
one cost more to read. Items, order and keys stay. Readers go on; other writers
of the collection wait. All of it or, when something goes wrong, nothing.`,
  operands: [{ syntax: '<NAME>', description: 'the collection' }],
  examples: [{ line: 'reams compact events --store my.db', purpose: 'after many deletes' }],
  run: runCompact,
}

async function runCompact([name = '']: readonly string[], settings: SettingValues): Promise<number> {
  using interruption = new Interruption()
  const { signal } = interruption
  return withStore(settings.get('store'), {}, async (store) => {
    const before = await existingHead(store, name)
    if (before.live === before.next) {
      await print(`${name}: ${sizeOf(before)}, and no holes. There is nothing to gain.`)
      return 0
    }
    const startedAt = performance.now()
    const progress = startProgress(`compacting ${name}`, before.live)
    const onItems = (items: number): void => progress.update(items, items)
    const { head, closed } = await compactCollection(store, name, { signal, onItems }).finally(() => progress.stop())
    const holes = `${formatCount(closed)} ${closed === 1 ? 'hole' : 'holes'} closed`
    await print(
      `${name}: ${holes} in ${formatDuration(performance.now() - startedAt)}; the collection has ${sizeOf(head)}.`,
    )
    return 0
  })
}
