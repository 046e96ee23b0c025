import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { queryValues, routedPath } from '../../src/service/incoming.ts'

describe('the routed path', () => {
  test('is the path as it came, nothing decoded', () => {
    assert.equal(routedPath('/', ''), '/')
    assert.equal(routedPath('/events?page=1', ''), '/events')
    assert.equal(routedPath('//%65vents/a%2Fb#x?y', ''), '//%65vents/a%2Fb')
  })

  test('loses the path of the base URL, at the border of a segment only', () => {
    assert.equal(routedPath('/api/v1/events?page=1', '/api/v1'), '/events')
    assert.equal(routedPath('/api/v1', '/api/v1'), '/')
    assert.equal(routedPath('/api/v1/', '/api/v1'), '/')
    assert.equal(routedPath('/api/v10/events', '/api/v1'), '/api/v10/events')
    assert.equal(routedPath('/events', '/api/v1'), '/events')
  })
})

describe('the values of a query parameter', () => {
  test('are all of that name, decoded, and a plus stays a plus', () => {
    assert.deepEqual(queryValues('/events', 'page'), [])
    assert.deepEqual(queryValues('/events?', 'page'), [])
    assert.deepEqual(queryValues('/events?page', 'page'), [''])
    assert.deepEqual(queryValues('/events?page=1&x=2&page=%33&Page=4', 'page'), ['1', '3'])
    assert.deepEqual(queryValues('/events?page=+1', 'page'), ['+1'])
    assert.deepEqual(queryValues('/events?page=%201', 'page'), [' 1'])
  })

  test('end where a fragment begins, and none are in it', () => {
    assert.deepEqual(queryValues('/events?page=1#page=2&page=3', 'page'), ['1'])
    assert.deepEqual(queryValues('/events#?page=2', 'page'), [])
  })
})
