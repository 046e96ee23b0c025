import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkConformance } from '../../src/check/index.ts'
import { CorrectServer, inProcess, type Links } from './correct-server.ts'
import { idsWith, ruleOf } from './hostile-servers.ts'

const BASE = 'http://events.example'

/** Checks a server of three pages whose links are these, over its own. */
function checkLinks(nulls: (page: number) => Links) {
  class NullLinks extends CorrectServer {
    override links(...words: Parameters<CorrectServer['links']>): Links {
      return { ...super.links(...words), ...nulls(words[0]) }
    }
  }
  return checkConformance(`${BASE}/events`, { fetch: inProcess(new NullLinks(), BASE) })
}

describe('a link that is null', () => {
  it('at an end gives a warning of D4, and no rule that passes says that it is a link', async () => {
    const report = await checkLinks((page) => (page === 3 ? { next: null } : {}))
    assert.deepEqual([report.verdict, idsWith(report, 'warn')], ['passed', ['D4']])
    assert.equal(ruleOf(report, 'D4').detail, 'expected no next on the last page; got null')
    assert.match(ruleOf(report, 'C4').title, /^first, prev, next and last, unless absent or null, are objects /)
    assert.match(ruleOf(report, 'C5').title, /, prev and next wherever a page comes before or after; /)
    assert.match(ruleOf(report, 'C9').title, /; each additional one is a link object or an array of them\.$/)
  })

  it('where a page follows breaks C5, which says that it is null', async () => {
    const report = await checkLinks((page) => (page === 2 ? { next: null } : {}))
    assert.equal(ruleOf(report, 'C5').detail, 'expected a link next; got null')
  })

  it('and is not one of the four gives a warning of C9', async () => {
    const report = await checkLinks(() => ({ search: null }))
    assert.deepEqual([report.verdict, idsWith(report, 'warn')], ['passed', ['C9']])
    assert.match(ruleOf(report, 'C9').detail, /^expected search is a link .*; got null$/)
  })
})
