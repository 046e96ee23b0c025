import assert from 'node:assert/strict'
import { it } from 'node:test'
import { checkConformance } from '../../src/check/index.ts'
import { C7 } from '../../src/check/rules/pages.ts'
import { type Answered, type Asked, inProcess } from './correct-server.ts'
import { spoiltServer } from './mutants/mutant.ts'

it('rule C7 compares all headers of a page past the last one, such as its ETag', async () => {
  const baseUrl = 'http://events.example'
  for (const name of ['ETag', 'Last-Modified', 'Content-Type', 'Cache-Control']) {
    const answer = (right: Answered, { query }: Asked) => {
      return { ...right, headers: { ...right.headers, [name]: query === 'page=3' ? 'last' : 'beyond' } }
    }
    const server = spoiltServer({}, { answer })
    const report = await checkConformance(`${baseUrl}/events`, { fetch: inProcess(server, baseUrl), rules: [C7.id] })
    const { status, detail } = report.rules[0] ?? assert.fail('no rule')
    assert.deepEqual([status, detail], ['fail', `expected as page 3: ${name}: last; got ${name}: beyond`])
  }
})
