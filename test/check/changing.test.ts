import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { runSample } from '../sample.ts'
import { append, CHANGED, ChangingServer, check, keep, once } from './changing-cases.ts'
import { idsWith, notesOf, outline, ruleOf } from './hostile-servers.ts'
import { spoiltServer } from './mutants/mutant.ts'

runSample(CHANGED, 0.08)

describe('one change during the check', () => {
  it('is told in the notes when a rule was tried again', async () => {
    const report = await check(new ChangingServer(1001, once(9, append(1))))
    assert.match(notesOf(report), /^The data changed during the check; tried again: [CD0-9, ]+\.$/m)
  })
})

describe('data that changes all the time', () => {
  it('hides no page beyond the last one that is a 404', async () => {
    for (const writer of [append(1), once(20, append(1)), once(20, append(600)), once(5, keep(0, -1)), keep(0, -1)]) {
      const server = new ChangingServer(1101, writer)
      server.effectivePage = (requested, asked) => {
        if (requested > BigInt(server.lastPage(asked))) throw server.notFound('this page')
        return Number(requested)
      }
      const report = await check(server)
      assert.equal(report.verdict, 'failed', outline(report))
      assert.equal(ruleOf(report, 'C7').status, 'fail', outline(report))
    }
  })

  it('hides no broken link', async () => {
    const server = new ChangingServer(1101, append(1))
    const links = server.links.bind(server)
    server.links = (page, asked) => ({ ...links(page, asked), last: { href: server.href(undefined, asked) } })
    const report = await check(server)
    assert.equal(report.verdict, 'failed', outline(report))
    assert.deepEqual(idsWith(report, 'fail'), ['C5'], outline(report))
  })

  it('is told from a server that gives another order at every request', async () => {
    const shuffled = spoiltServer({}, { itemsOn: (items) => items.toSorted(() => Math.random() - 0.5) })
    const report = await check(shuffled, { strict: true })
    assert.equal(report.verdict, 'failed', outline(report))
    assert.equal(ruleOf(report, 'D8').status, 'fail', outline(report))
    assert.match(notesOf(report), /the order is not fixed \(D8\)/)
  })
})
