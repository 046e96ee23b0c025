import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CHECK_DEFAULTS } from '../../src/check/check-options.ts'
import { COMMANDS } from '../../src/cli/program.ts'
import { Failure } from '../../src/cli/failure.ts'
import { type Environment, type Flags, longFlag, SettingValues } from '../../src/cli/setting-values.ts'
import { OTHER_VARIABLES, SETTINGS, settingsOf } from '../../src/cli/settings.ts'

function serveSettings(flags: Flags, environment: Environment = {}): SettingValues {
  return new SettingValues('serve', flags, environment)
}

describe('settings', () => {
  for (const [name, { flag, variable }] of Object.entries(SETTINGS))
    it(`${name} has a variable of its name, and a flag of the name or its end`, () => {
      const words = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
      const [, flagWords = ''] = /(?:^|, )--([a-z-]+)(?: |$)/.exec(flag) ?? []
      const isShared = Object.values(SETTINGS).filter((setting) => longFlag(setting) === `--${flagWords}`).length > 1
      assert.ok(words === flagWords || (isShared && words.endsWith(`-${flagWords}`)), flag)
      assert.equal(variable, `REAMS_${words.replaceAll('-', '_').toUpperCase()}`)
    })

  it('no command has two settings of one flag, and no two have one variable', () => {
    for (const { name } of COMMANDS) {
      const flags = settingsOf(name).map(([, setting]) => longFlag(setting))
      assert.deepEqual(flags, [...new Set(flags)], name)
    }
    const variables = [...Object.values(SETTINGS).map(({ variable }) => variable), ...Object.keys(OTHER_VARIABLES)]
    assert.deepEqual(variables, [...new Set(variables)])
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

  it('a list is given one at a time or with commas, and holds each name once', () => {
    const collection = (flags: Flags, environment: Environment = {}) =>
      new SettingValues('check', flags, environment).get('collection')
    assert.equal(collection({}), undefined)
    assert.deepEqual(collection({ collection: ['a', 'b'] }), ['a', 'b'])
    assert.deepEqual(collection({ collection: ['a,b', 'a'] }), ['a', 'b'])
    assert.deepEqual(collection({}, { REAMS_COLLECTION: 'a, b' }), ['a', 'b'])
    assert.deepEqual(collection({ collection: ['c'] }, { REAMS_COLLECTION: 'a,b' }), ['c'])
    for (const list of ['a,', '', '.', '..', 'a/b', 'a?page=2', 'a#b'])
      assert.throws(() => collection({ collection: [list] }), Failure, list)
  })

  it('the defaults of check are those of the checker', () => {
    const { requests, concurrency, delay, timeout, timeLimit, answerBytes } = SETTINGS
    assert.equal(requests.default, CHECK_DEFAULTS.requests)
    assert.equal(concurrency.default, CHECK_DEFAULTS.concurrency)
    assert.equal(delay.default, CHECK_DEFAULTS.delayMs)
    assert.equal(timeout.default * 1000, CHECK_DEFAULTS.timeoutMs)
    assert.equal(answerBytes.default, CHECK_DEFAULTS.answerBytes)
    const [limit, walkLimit] = [CHECK_DEFAULTS.timeLimitMs, CHECK_DEFAULTS.walkTimeLimitMs].map((ms) => ms / 1000)
    assert.ok(timeLimit.description.endsWith(`(${limit}; with a walk ${walkLimit})`))
  })

  const wrong: [flags: Flags, environment: Environment, message: string][] = [
    [{ port: 'abc' }, {}, '"--port abc" is not possible. Give a whole number from 0 to 65535.'],
    [{ port: '70000' }, {}, '"--port 70000" is not possible. Give a whole number from 0 to 65535.'],
    [{ port: '-1' }, {}, '"--port -1" is not possible. Give a whole number from 0 to 65535.'],
    [{ port: '8e3' }, {}, '"--port 8e3" is not possible. Give a whole number from 0 to 65535.'],
    [{}, { REAMS_PORT: 'x' }, '"REAMS_PORT=x" is not possible. Give a whole number from 0 to 65535.'],
    [{}, { REAMS_SAMPLE: 'maybe' }, '"REAMS_SAMPLE=maybe" is not possible. Give 1 or true, 0 or false.'],
    [{ format: 'xml' }, {}, '"--format xml" is not possible. Give one of ndjson, json, csv.'],
    [{ itemBytes: '0' }, {}, '"--item-bytes 0" is not possible. Give a whole number from 2 to 1048576.'],
    [{ store: '' }, {}, '"--store " is not possible. Give a path such as reams.db, or postgres://user@host/database.'],
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
