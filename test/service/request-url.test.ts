import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { queryValues, routedPath } from '../../src/service/request-url.ts'

describe('the routed path', () => {
  test('is the path as it came, nothing decoded', () => {
    assert.equal(routedPath('http://a/', ''), '/')
    assert.equal(routedPath('https://a.example:1/events?page=1', ''), '/events')
    assert.equal(routedPath('http://a//%65vents/a%2Fb#x?y', ''), '//%65vents/a%2Fb')
  })

  test('loses the path of the base URL, at the border of a segment only', () => {
    assert.equal(routedPath('http://a/api/v1/events?page=1', '/api/v1'), '/events')
    assert.equal(routedPath('http://a/api/v1', '/api/v1'), '/')
    assert.equal(routedPath('http://a/api/v1/', '/api/v1'), '/')
    assert.equal(routedPath('http://a/api/v10/events', '/api/v1'), '/api/v10/events')
    assert.equal(routedPath('http://a/events', '/api/v1'), '/events')
  })
})

describe('the values of a query parameter', () => {
  test('are all of that name, decoded, and a plus stays a plus', () => {
    assert.deepEqual(queryValues('http://a/events', 'page'), [])
    assert.deepEqual(queryValues('http://a/events?', 'page'), [])
    assert.deepEqual(queryValues('http://a/events?page', 'page'), [''])
    assert.deepEqual(queryValues('http://a/events?page=1&x=2&page=%33&Page=4', 'page'), ['1', '3'])
    assert.deepEqual(queryValues('http://a/events?page=+1', 'page'), ['+1'])
    assert.deepEqual(queryValues('http://a/events?page=%201', 'page'), [' 1'])
  })

  test('end where a fragment begins, and none are in it', () => {
    assert.deepEqual(queryValues('http://a/events?page=1#page=2&page=3', 'page'), ['1'])
    assert.deepEqual(queryValues('http://a/events#?page=2', 'page'), [])
  })
})
