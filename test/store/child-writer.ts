/**
 * A process that writes to a store until it is stopped, for tests of what other processes and sudden ends do.
 * Arguments: the path or URL, then `append N MS` (N single appends, with a pause of MS,
 * or none, between them) or, once or several times, `load NAME` or `replace NAME` (loads that never
 * commit; each step prints a dot).
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { DataLocation } from '../../src/cli/data-location.ts'
import { openStore } from '../../src/cli/open-store.ts'
import { itemRun } from '../../src/items/item-run.ts'

const [place = '', ...tasks] = process.argv.slice(2)
const store = await openStore(new DataLocation(place), { create: true })

if (tasks[0] === 'append') {
  await store.create('events', { keyField: 'id' }).catch(() => {})
  const [, count = '0', pauseMs = '0'] = tasks
  for (let turn = 0; turn < Number(count); turn++) {
    await store.append('events', itemRun([`{"id":"${process.pid}-${turn}"}`], { keyField: 'id' }))
    if (pauseMs !== '0') await sleep(Number(pauseMs))
  }
  await store.close()
} else {
  const loads = []
  for (let index = 0; index < tasks.length; index += 2) {
    const isReplacement = tasks[index] === 'replace'
    const settings = { keyField: 'id' }
    loads.push(await store.load(tasks[index + 1] ?? '', { settings, isReplacement, onConflict: 'replace' }))
  }
  for (let start = 0; ; start += 700) {
    const texts = Array.from({ length: 700 }, (_, index) => `{"id":${start + index},"from":"the load"}`)
    for (const load of loads) await load.append(itemRun(texts, { keyField: 'id' }))
    process.stdout.write('.'.repeat(loads.length))
  }
}
