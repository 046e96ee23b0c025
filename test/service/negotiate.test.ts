import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { chooseEncoding, chooseEnvelopeType } from '../../src/service/negotiate.ts'

describe('Accept-Encoding', () => {
  const gzip = [
    'gzip',
    'GZIP',
    'x-gzip',
    '*',
    'gzip, deflate, br',
    'br;q=1.0, gzip;q=0.2',
    'gzip;q=0.5, identity;q=0.5',
  ]
  const gzipToo = ['gzip ; q=1', 'gzip;q=0.001', 'gzip;Q=1', 'identity;q=0, gzip', '*;q=0.1', 'gzip;q=1.000, *;q=0']
  for (const header of [...gzip, ...gzipToo])
    test(`${header}: gzip`, () => assert.equal(chooseEncoding(header), 'gzip'))

  const identity = [null, '', 'br', 'deflate, br', 'identity', 'gzip;q=0', 'gzip;q=0.000', 'gzip;q=0, *', '*;q=0']
  const identityToo = [
    'identity, gzip;q=0.5',
    'gzip;q=nonsense',
    'gzip;q=2',
    'gzip;q=-1',
    'identity;q=0',
    'gzipped',
    ',;,',
  ]
  for (const header of [...identity, ...identityToo])
    test(`${header}: identity`, () => assert.equal(chooseEncoding(header), 'identity'))
})

describe('Accept', () => {
  const hal = [
    null,
    '',
    '*/*',
    'application/*',
    'application/hal+json',
    'application/hal+json, application/json',
    'application/json, application/hal+json',
    'application/json;q=0.9, application/hal+json',
    'application/json;q=0.9, */*',
    'application/json;q=0',
    'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2',
    'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    'application/hal+json;profile="x", application/json',
    'text/csv',
    'nonsense',
  ]
  for (const header of hal)
    test(`${header}: HAL`, () => assert.equal(chooseEnvelopeType(header), 'application/hal+json'))

  const json = [
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json, text/plain, */*',
    'application/json, application/hal+json;q=0.5',
    'application/hal+json;q=0, */*',
    'application/json, */*;q=0.1',
    'application/json; q=.3, application/hal+json; q=.2',
  ]
  for (const header of json)
    test(`${header}: plain JSON`, () => assert.equal(chooseEnvelopeType(header), 'application/json'))
})
