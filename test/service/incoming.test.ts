import assert from 'node:assert/strict'
import { test } from 'node:test'
import { queryValues, routedPath } from '../../src/service/incoming.ts'

const PATHS: readonly (readonly [target: string, basePath: string, routed: string])[] = [
  ['/', '', '/'],
  ['/events?page=1', '', '/events'],
  ['//%65vents/a%2Fb#x?y', '', '//%65vents/a%2Fb'],
  ['/api/v1/events?page=1', '/api/v1', '/events'],
  ['/api/v1', '/api/v1', '/'],
  ['/api/v1/', '/api/v1', '/'],
  ['/api/v10/events', '/api/v1', '/api/v10/events'],
  ['/events', '/api/v1', '/events'],
]
for (const [target, basePath, routed] of PATHS)
  test(`${target} is routed as ${routed}, where the base URL has the path "${basePath}"`, () =>
    assert.equal(routedPath(target, basePath), routed))

const PAGES: readonly (readonly [target: string, values: readonly string[]])[] = [
  ['/events', []],
  ['/events?', []],
  ['/events?page', ['']],
  ['/events?page=1&x=2&page=%33&Page=4', ['1', '3']],
  ['/events?page=+1', ['+1']],
  ['/events?page=%201', [' 1']],
  ['/events?page=1#page=2&page=3', ['1']],
  ['/events#?page=2', []],
]
for (const [target, values] of PAGES)
  test(`${target} gives the pages ${JSON.stringify(values)}`, () =>
    assert.deepEqual(queryValues(target, 'page'), values))
