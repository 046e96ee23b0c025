import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { queryValues, routedPath } from '../../src/service/incoming.ts'
import { chooseEncoding, chooseEnvelopeType } from '../../src/service/negotiate.ts'

describe('Accept-Encoding', () => {
  const headers: Readonly<Record<ReturnType<typeof chooseEncoding>, readonly (string | null)[]>> = {
    gzip: [
      ...['gzip', 'GZIP', 'x-gzip', '*', 'gzip, deflate, br', 'br;q=1.0, gzip;q=0.2', 'gzip;q=0.5, identity;q=0.5'],
      ...['gzip ; q=1', 'gzip;q=0.001', 'gzip;Q=1', 'identity;q=0, gzip', '*;q=0.1', 'gzip;q=1.000, *;q=0'],
    ],
    identity: [
      ...[null, '', 'br', 'deflate, br', 'identity', 'gzip;q=0', 'gzip;q=0.000', 'gzip;q=0, *', '*;q=0', ',;,'],
      ...['identity, gzip;q=0.5', 'gzip;q=nonsense', 'gzip;q=2', 'gzip;q=-1', 'identity;q=0', 'gzipped'],
    ],
  }
  for (const [encoding, all] of Object.entries(headers))
    for (const header of all) test(`${header}: ${encoding}`, () => assert.equal(chooseEncoding(header), encoding))
})

describe('Accept', () => {
  const headers: Readonly<Record<ReturnType<typeof chooseEnvelopeType>, readonly (string | null)[]>> = {
    'application/hal+json': [
      ...[null, '', '*/*', 'application/*', 'application/hal+json', 'text/csv', 'image/png', 'nonsense', '?'],
      ...['application/hal+json, application/json', 'application/json, application/hal+json'],
      ...['application/json;q=0.9, application/hal+json', 'application/json;q=0.9, */*', 'application/json;q=0'],
      'application/hal+json;profile="x", application/json',
      // The stock clients of some languages, and a browser, who gets HTML only where it navigates.
      'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2',
      'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    ],
    'application/json': [
      ...['application/json', 'Application/JSON', 'application/json; charset=utf-8', 'application/json, */*;q=0.1'],
      ...['application/json, text/plain, */*', 'application/json, application/hal+json;q=0.5'],
      ...['application/hal+json;q=0, */*', 'application/json; q=.3, application/hal+json; q=.2'],
    ],
  }
  for (const [type, all] of Object.entries(headers))
    for (const header of all) test(`${header}: ${type}`, () => assert.equal(chooseEnvelopeType(header), type))
})

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
