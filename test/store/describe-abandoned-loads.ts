/** The part of the specification about loads that never end: their process is killed, stands still or loses its lease. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { ROWS_A_SWEEP } from '../../src/store/load.ts'
import { QUIRE_SIZE, REAM_SIZE } from '../../src/store/positions.ts'
import { allRefused, changed, isError, item, itemsFrom, keyed } from './items.ts'
import type { Subject } from './subject.ts'
import type { Engine } from './test-store.ts'

/** In a ream that is begun, and in a tail. */
const BEGUN = QUIRE_SIZE + 40
const SHORT = REAM_SIZE + BEGUN
const LONG = 3 * REAM_SIZE + BEGUN

/** An engine that lives in one process leaves this out. */
export const KILLED = 'because its process was killed leaves the old state and nothing else'

const CHILD = fileURLToPath(new URL('./child-writer.ts', import.meta.url))

/** Starts a process that loads, and kills it when it has written a few steps. */
export async function killWhileLoading(location: string, tasks: string[], meanwhile = async () => {}): Promise<void> {
  const child = spawn(process.execPath, [CHILD, location, ...tasks], { stdio: ['ignore', 'pipe', 'inherit'] })
  for (let steps = 0; steps < 4 * tasks.length; ) steps += String((await once(child.stdout, 'data'))[0]).length
  await meanwhile()
  child.kill('SIGKILL')
  await once(child, 'exit')
}

export function describeAbandonedLoads(
  { opened, store, newName, filled, headOf, check, elsewhere }: Subject,
  leavesOut: Engine['leavesOut'],
): void {
  describe('a load that never ends', () => {
    /** How many rows a collection has: reams, tail, keys, leases and what is left over. */
    const rowsOf = (name: string): Promise<number[]> =>
      Promise.all(['ream', 'tail', 'key', 'lease', 'leftover'].map((table) => opened().rows.count(table, name)))

    it(KILLED, { skip: leavesOut?.[KILLED] ?? false }, async () => {
      const names = [await filled(LONG), await filled(LONG)]
      const heads = await Promise.all(names.map(headOf))
      const [name = '', replaced = ''] = names
      await killWhileLoading(opened().location, ['load', name, 'replace', replaced], async () => {
        await allRefused(
          'busy',
          names.map((each) => store.append(each, keyed([item(9000)]))),
        )
      })
      for (const [index, each] of names.entries()) assert.deepEqual(await check(each, itemsFrom(0, LONG)), heads[index])
      assert.deepEqual((await store.verify()).findings, [])
      await opened().ageLeases()
      for (const each of names) {
        await store.append(each, keyed([item(9000)]))
        await check(each, [...itemsFrom(0, LONG), item(9000)])
        assert.deepEqual(await rowsOf(each), [4, 41, LONG + 1, 0, 0])
      }
    })

    it('because it stood still is taken over, and cannot go on, whatever it has written', async () => {
      for (const options of [{}, { isReplacement: true }, { onConflict: 'replace' }] as const) {
        const name = await filled(SHORT)
        const load = await store.load(name, options)
        await load.append(keyed(itemsFrom(9000, 700)))
        await elsewhere(async (other) => {
          // The load renews its lease every two seconds, and may do so in between.
          for (let isBusy = true; isBusy; ) {
            await opened().ageLeases()
            isBusy = await other.remove(name, '7').then(
              () => false,
              (error) => isError('busy')(error) || assert.fail(error),
            )
          }
        })
        await assert.rejects(load.append(keyed(itemsFrom(9700, 700))), isError('lease-lost', /start it again/))
        await assert.rejects(load.commit(), isError('lease-lost'))
        await load.abort()
        await check(name, itemsFrom(0, SHORT).toSpliced(7, 1))
        assert.deepEqual(await rowsOf(name), [2, 40, SHORT - 1, 0, 0])
      }
    })

    it('because it is aborted leaves nothing, also where it takes more than one step to remove it', async () => {
      const name = await filled(SHORT)
      const before = await headOf(name)
      for (const [options, texts] of [
        [{}, itemsFrom(5000, 700)],
        [{ isReplacement: true }, itemsFrom(0, ROWS_A_SWEEP + 500)],
        [{ onConflict: 'replace' }, Array.from({ length: ROWS_A_SWEEP + 500 }, (_, id) => changed(id, 1))],
      ] as const) {
        const load = await store.load(name, options)
        await load.append(keyed(texts))
        await load.abort()
        assert.deepEqual(await check(name, itemsFrom(0, SHORT)), before)
        assert.deepEqual(await rowsOf(name), [2, 40, SHORT, 0, 0])
      }
    })

    it('because it died behind its commit leaves what some later write removes', async () => {
      const name = await filled(LONG)
      await opened().rows.copy('ream', name, {}, { generationId: 0 })
      await opened().rows.addLeftover(name, 0)
      assert.deepEqual(await rowsOf(name), [8, 40, LONG, 0, 1])
      await elsewhere(async (fresh) => {
        await fresh.create(newName())
        while ((await rowsOf(name)).at(-1) !== 0) await sleep(10)
      })
      assert.deepEqual(await rowsOf(name), [4, 40, LONG, 0, 0])
    })
  })
}
