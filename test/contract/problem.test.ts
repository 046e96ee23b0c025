import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isProblemName, PROBLEMS, problem } from '../../src/contract/problem.ts'

describe('the catalogue of problems (D14)', () => {
  for (const [name, kind] of Object.entries(PROBLEMS))
    test(`${name} has a URL-safe name, an error status, and says what it is and what to do`, () => {
      assert.match(name, /^[a-z]+(-[a-z]+)*$/)
      assert.ok(kind.status >= 400 && kind.status < 600)
      assert.doesNotMatch(kind.title, /\.$/)
      assert.match(kind.description, /\.$/)
      assert.match(kind.hint, /\.$/)
    })

  test('knows its own names and nothing of Object', () => {
    assert.ok(isProblemName('invalid-page'))
    assert.ok(!isProblemName('toString'))
    assert.ok(!isProblemName('__proto__'))
  })
})

test('an occurrence has type, title, status, detail and hint, and can have a better hint', () => {
  const { title, status, hint } = PROBLEMS['invalid-page']
  const type = 'https://api.example.com/-/problems/invalid-page'
  const expected = { type, title, status, detail: 'No.', hint }
  assert.deepEqual(problem('https://api.example.com', 'invalid-page', 'No.'), expected)
  assert.equal(problem('https://api.example.com', 'invalid-page', 'No.', 'Try 1.').hint, 'Try 1.')
})
