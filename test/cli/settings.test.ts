import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Failure } from '../../src/cli/failure.ts'
import { type Environment, type Flags, SettingValues } from '../../src/cli/setting-values.ts'
import { SETTINGS } from '../../src/cli/settings.ts'

function serveSettings(flags: Flags, environment: Environment = {}): SettingValues {
  return new SettingValues('serve', flags, environment)
}

describe('settings', () => {
  for (const [name, { flag, variable }] of Object.entries(SETTINGS))
    it(`${name} has a flag and a variable of its name`, () => {
      const words = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
      assert.match(flag, new RegExp(`(^|, )--${words}( |$)`))
      assert.equal(variable, `REAMS_${words.replaceAll('-', '_').toUpperCase()}`)
    })

  it('a flag wins over its variable, and the variable over the default', () => {
    assert.equal(serveSettings({}).get('port'), 8080)
    assert.equal(serveSettings({}, { REAMS_PORT: '1' }).get('port'), 1)
    assert.equal(serveSettings({ port: '2' }, { REAMS_PORT: '1' }).get('port'), 2)
  })

  it('an empty variable counts as none', () => {
    const settings = serveSettings({}, { REAMS_PORT: '', REAMS_SAMPLE: '' })
    assert.equal(settings.get('port'), 8080)
    assert.equal(settings.isGiven('sample'), false)
  })

  it('a switch is spelled out in the environment', () => {
    for (const yes of ['1', 'true', 'TRUE']) assert.equal(serveSettings({}, { REAMS_SAMPLE: yes }).get('sample'), true)
    for (const no of ['0', 'false']) assert.equal(serveSettings({}, { REAMS_SAMPLE: no }).get('sample'), false)
  })

  it('an IPv6 address may stand in brackets', () => assert.equal(serveSettings({ host: '[::1]' }).get('host'), '::1'))

  it('a base URL loses its slash at the end', () =>
    assert.equal(serveSettings({ baseUrl: 'https://example.com/api/' }).get('baseUrl'), 'https://example.com/api'))

  it('a command takes no variable of a setting that it does not have', () =>
    assert.doesNotThrow(() => new SettingValues('verify', {}, { REAMS_PORT: 'abc' })))

  const wrong: [flags: Flags, environment: Environment, message: string][] = [
    [{ port: 'abc' }, {}, '"--port abc" is not possible. Give a whole number from 0 to 65535.'],
    [{ port: '70000' }, {}, '"--port 70000" is not possible. Give a whole number from 0 to 65535.'],
    [{ port: '-1' }, {}, '"--port -1" is not possible. Give a whole number from 0 to 65535.'],
    [{ port: '8e3' }, {}, '"--port 8e3" is not possible. Give a whole number from 0 to 65535.'],
    [{}, { REAMS_PORT: 'x' }, '"REAMS_PORT=x" is not possible. Give a whole number from 0 to 65535.'],
    [{}, { REAMS_SAMPLE: 'maybe' }, '"REAMS_SAMPLE=maybe" is not possible. Give 1 or true, 0 or false.'],
    [{ format: 'xml' }, {}, '"--format xml" is not possible. Give one of ndjson, json, csv.'],
    [{ itemBytes: '0' }, {}, '"--item-bytes 0" is not possible. Give a whole number from 2 to 1048576.'],
    [{ store: '' }, {}, '"--store " is not possible. Give a value that is not empty.'],
    [
      { baseUrl: 'ftp://example.com' },
      {},
      '--base-url: The base URL "ftp://example.com" begins with ftp:, not with http: or https:. Give one such as https://api.example.com or https://example.com/api/v1.',
    ],
    [
      { baseUrl: 'https://me:secret@example.com' },
      {},
      '--base-url: The base URL holds a user name or password, which would stand in every link. Give one such as https://api.example.com or https://example.com/api/v1.',
    ],
  ]
  for (const [flags, environment, message] of wrong)
    it(message, () =>
      assert.throws(
        () => serveSettings(flags, environment),
        (error) => error instanceof Failure && error.exitStatus === 2 && error.message === message,
      ),
    )
})
