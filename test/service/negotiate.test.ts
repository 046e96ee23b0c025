import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
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
