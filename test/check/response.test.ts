import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createRequest, responseOf } from '../../src/check/http/response.ts'

it('the same body is read for each collection by its own name', () => {
  const body = new TextEncoder().encode('{"_embedded":{"events":[1],"venues":[1,2,3]}}')
  const request = createRequest('http://service.invalid/')
  const counts = ['events', 'venues', 'events'].map(
    (name) => responseOf(request, new Response(), body, name).document?.items?.count,
  )
  assert.deepEqual(counts, [1, 3, 1])
})
