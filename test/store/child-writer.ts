/**
 * A process that writes to a store until it is stopped, for tests of what other processes and sudden ends do.
 * Arguments: the path or URL, then `append N MS` (N single appends, with a pause of MS, or none, between them) or
 * `load` / `replace` (a load that never commits).
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { DataLocation } from '../../src/cli/data-location.ts'
import { openStore } from '../../src/cli/open-store.ts'
import { itemRun } from '../../src/items/item-run.ts'

const [place = '', task = '', count = '0', pauseMs = '0'] = process.argv.slice(2)
const store = await openStore(new DataLocation(place), { create: true })

if (task === 'append') {
  await store.create('events', { keyField: 'id' }).catch(() => {})
  for (let turn = 0; turn < Number(count); turn++) {
    await store.append('events', itemRun([`{"id":"${process.pid}-${turn}"}`], { keyField: 'id' }))
    if (pauseMs !== '0') await sleep(Number(pauseMs))
  }
  await store.close()
} else {
  const load = await store.load('events', {
    settings: { keyField: 'id' },
    isReplacement: task === 'replace',
    onConflict: 'replace',
  })
  for (let start = 0; ; start += 700) {
    const texts = Array.from({ length: 700 }, (_, index) => `{"id":${start + index},"from":"the load"}`)
    await load.append(itemRun(texts, { keyField: 'id' }))
    process.stdout.write('.')
  }
}
