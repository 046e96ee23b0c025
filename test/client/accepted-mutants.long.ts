import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { CorrectServer, Links } from '../check/correct-server.ts'
import type { Mutant } from '../check/mutants/mutant.ts'
import { MUTANTS } from '../check/mutants.ts'
import { mirrored, pulled, start, walked } from './read-whole.ts'

/** Breaks no rule of the contract, so that the checker only warns. The tests of the mutants see to it that it does. */
const isPassed = ({ caughtBy, also, isDoubt }: Mutant) =>
  isDoubt || ![caughtBy, ...also].some((id) => id.startsWith('C'))

/** Nobody can walk pages whose items never stand in the same order. */
const WITHOUT_ORDER = ['The items of a page come in another order each time.']
/** Reams cannot store these. */
const NOT_STORED = [
  'Items are numbers instead of objects.',
  'A removed item leaves null in its place.',
  'An unpaginated collection holds more than 10,000 items.',
]
/** A snapshot is believed: these have other items than the live pages. */
const OTHER_SNAPSHOT =
  /^(A snapshot shows other items|The last page of a snapshot shows|A page in the middle of a snapshot shows)/

describe('a server with a defect about which the checker only warns is walked, pulled and mirrored', () => {
  for (const mutant of MUTANTS.filter(isPassed)) {
    const { defect, caughtBy } = mutant
    it(`${defect} ${caughtBy}`, async (t) => {
      const server = mutant.create()
      const url = await start(t, server)
      if (WITHOUT_ORDER.includes(defect)) {
        await assert.rejects(walked(url), { name: 'CollectionChanged' })
        return
      }
      const found = await walked(url)
      if (!OTHER_SNAPSHOT.test(defect)) assert.deepEqual(found, itemsOf(server))
      assert.equal(found.length, server.items.length)
      assert.deepEqual(await pulled(url), found)
      if (NOT_STORED.includes(defect)) await assert.rejects(mirrored(url), /not an object|at most 10,000 items/)
      else assert.deepEqual(await mirrored(url), found)
    })
  }
})

/** The items on the live pages of a server. */
function itemsOf(server: CorrectServer): unknown[] {
  const asked = { method: 'GET', path: '/events', query: '', headers: {} }
  if (!server.isPaginated(asked)) return [...server.items]
  const pages = Array.from({ length: server.lastPage(asked) }, (_, index) => index + 1)
  const listsOn = (page: number) => Object.values(server.embedded(server.itemsOn(page, asked)) as Links)
  return pages.flatMap((page) => listsOn(page).flatMap((list) => (Array.isArray(list) ? list : [])))
}
