import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CHECK_DEFAULTS, WALK_TIME_LIMIT_MS } from '../../src/check/check-options.ts'
import { COMMANDS } from '../../src/cli/program.ts'
import { type Environment, type Flags, SettingValues } from '../../src/cli/setting-values.ts'
import { longFlag, OTHER_VARIABLES, SETTINGS, type Setting, type SettingName } from '../../src/cli/settings.ts'
import { KEY_FIELDS_RULE } from '../../src/contract/key.ts'

const ALL = Object.keys(SETTINGS) as SettingName[]
const valuesOf = (flags: Flags, environment: Environment = {}) => new SettingValues(ALL, flags, environment)

describe('settings', () => {
  it('have flags and variables of their names, or of the end of a name where two share a flag', () => {
    const settings: [string, Setting][] = Object.entries(SETTINGS)
    for (const [name, setting] of settings) {
      const words = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
      const flag = longFlag(setting)
      const isShared = settings.filter(([, each]) => longFlag(each) === flag).length > 1
      assert.ok(flag === `--${words}` || (isShared && `--${words}`.endsWith(flag.slice(1))), flag)
      assert.equal(setting.variable, `REAMS_${words.replaceAll('-', '_').toUpperCase()}`)
      assert.ok(!Object.hasOwn(OTHER_VARIABLES, setting.variable))
    }
  })

  it('are all used, and no command has two with one flag', () => {
    assert.deepEqual(new Set(COMMANDS.flatMap(({ settings }) => settings)), new Set(ALL))
    for (const { name, settings } of COMMANDS) {
      const flags = settings.map((each) => longFlag(SETTINGS[each]))
      assert.deepEqual(flags, [...new Set(flags)], name)
    }
  })

  it('come from a flag, else from the variable unless it is empty, else from the default', () => {
    assert.equal(valuesOf({}).get('port'), 8080)
    assert.equal(valuesOf({}, { REAMS_PORT: '' }).get('port'), 8080)
    assert.equal(valuesOf({}, { REAMS_PORT: '1' }).get('port'), 1)
    assert.equal(valuesOf({ port: '2' }, { REAMS_PORT: '1' }).get('port'), 2)
    assert.equal(valuesOf({}, { REAMS_SAMPLE: '' }).isGiven('sample'), false)
    assert.doesNotThrow(() => new SettingValues(['store'], {}, { REAMS_PORT: 'abc' }), 'of another command')
  })

  it('are read by their kinds', () => {
    for (const yes of ['1', 'true', 'TRUE']) assert.equal(valuesOf({}, { REAMS_SAMPLE: yes }).get('sample'), true)
    for (const no of ['0', 'false']) assert.equal(valuesOf({}, { REAMS_SAMPLE: no }).get('sample'), false)
    assert.equal(valuesOf({ host: '[::1]' }).get('host'), '::1')
    assert.equal(valuesOf({ baseUrl: 'https://example.com/api/' }).get('baseUrl'), 'https://example.com/api')
    assert.equal(valuesOf({ key: 'a\\,b,c' }).get('key'), 'a\\,b,c')
    assert.deepEqual(valuesOf({ rateLimit: '600/m' }).get('rateLimit'), { requests: 600, seconds: 60 })
    assert.deepEqual(valuesOf({ rateLimit: '1/h' }).get('rateLimit'), { requests: 1, seconds: 3600 })
    assert.deepEqual(valuesOf({ corsOrigin: ['*'] }).get('corsOrigin'), ['*'])
    const times = { '0': 0, '90s': 90_000, '30m': 1_800_000, '12h': 43_200_000, '7d': 604_800_000 }
    for (const [text, ms] of Object.entries(times)) assert.equal(valuesOf({ retention: text }).get('retention'), ms)
    const sizes = { '1': 1, '3KiB': 3072, '512MiB': 2 ** 29, '2GiB': 2 ** 31, '1TiB': 2 ** 40 }
    for (const [text, bytes] of Object.entries(sizes))
      assert.equal(valuesOf({ retentionBytes: text }).get('retentionBytes'), bytes)
    assert.ok(valuesOf({ workers: 'auto' }).get('workers') >= 1)
  })

  it('that are lists come one at a time or with commas, each value once', () => {
    assert.equal(valuesOf({}).get('collection'), undefined)
    assert.deepEqual(valuesOf({ collection: ['a,b', 'a'] }).get('collection'), ['a', 'b'])
    assert.deepEqual(valuesOf({}, { REAMS_COLLECTION: 'a, b' }).get('collection'), ['a', 'b'])
    assert.deepEqual(valuesOf({ collection: ['c'] }, { REAMS_COLLECTION: 'a,b' }).get('collection'), ['c'])
    for (const list of ['a,', '', '.', '..', 'a/b', 'a?page=2', 'a#b'])
      assert.throws(() => valuesOf({ collection: [list] }), /^Failure: Invalid --collection ".*": expected a name; or/)
  })

  it('of check have the defaults of the checker', () => {
    const { concurrency, delay, timeout, timeLimit, answerBytes } = SETTINGS
    assert.equal(concurrency.default, CHECK_DEFAULTS.concurrency)
    assert.equal(delay.default, CHECK_DEFAULTS.delayMs)
    assert.equal(timeout.default * 1000, CHECK_DEFAULTS.timeoutMs)
    assert.equal(answerBytes.default, CHECK_DEFAULTS.answerBytes)
    const [limit, walkLimit] = [CHECK_DEFAULTS.timeLimitMs, WALK_TIME_LIMIT_MS].map((ms) => ms / 1000)
    assert.ok(timeLimit.description.endsWith(`(${limit}; --walk ${walkLimit})`))
  })

  type Wrong = [flags: Flags, environment: Environment, message: string]
  const invalid = (name: SettingName, expected: string, ...values: string[]): Wrong[] =>
    values.map((value) => [
      { [name]: SETTINGS[name].kind.isList ? [value] : value },
      {},
      `Invalid ${longFlag(SETTINGS[name])} "${value}": expected ${expected}`,
    ])
  const port = 'a whole number from 0 to 65535.'
  const rate = 'a number per second, minute or hour such as 100/s, 600/m or 10000/h (1 to 999999999).'
  const noRates = '|100|0/s|1.5/s|-1/s|1e3/s|100/d|100 / s|100/S|1000000000/s|100/s,20/s'.split('|')
  const network = 'an address or a network such as 10.0.0.0/8, 192.0.2.7 or fd00::/8; or several, separated by commas.'
  const noNetworks = ['', 'proxy', '10.0.0.0/33', '10.0.0.0/8,', 'fd00::/129', '10.0.0.0/8/8']
  const origin =
    'an origin such as https://app.example.com, or * alone for every origin; or several, separated by commas.'
  const noOrigins = ['', 'null', 'app.example', 'https://a.example/path', 'https://*.example', '*,https://a.example']
  const lifetime = 'a number of minutes, hours or days such as 30m, 12h or 90d (up to 999999), or never.'
  const noLifetimes = ['90', 'd', '0d', '-1d', '1.5h', '1w', '90 d', '90D', '1000000d', 'Never', '2030-01-01']
  const time = 'a time such as 500ms, 10s or 5m, at most 60m.'
  const retention = 'a number of seconds, minutes, hours or days such as 90s, 30m, 12h or 7d (up to 999999), or 0.'
  const noRetentions = ['', '7', 'd', '0d', '-1d', '1.5h', '1w', '7 d', '7D', '1000000d', 'never']
  const size = 'a size such as 512MiB or 2GiB (KiB, MiB, GiB, TiB), or a number of bytes, from 1 to 9999TiB.'
  const noSizes = ['', '0', '-1', '1.5GiB', '1 GiB', '1GB', '1gib', '10000TiB', '99999999999999999']
  const store = 'Invalid --store: A store is a path or a postgres:// URL, not a'
  const address = 'Expected one such as https://api.example.com or https://example.com/api/v1.'
  const wrong: Wrong[] = [
    ...invalid('port', port, 'abc', '70000', '-1', '8e3', '1.5'),
    [{}, { REAMS_PORT: 'x' }, `Invalid REAMS_PORT "x": expected ${port}`],
    [{}, { REAMS_SAMPLE: 'maybe' }, 'Invalid REAMS_SAMPLE "maybe": expected 1 or true, 0 or false.'],
    ...invalid('format', 'one of ndjson, json, csv, tsv.', 'xml'),
    [{ key: 'a,a' }, {}, `Invalid --key: "a,a": the field "a" is named twice; expected ${KEY_FIELDS_RULE}.`],
    [{}, { REAMS_KEY: 'a,' }, `Invalid REAMS_KEY: "a,": a name is empty; expected ${KEY_FIELDS_RULE}.`],
    ...invalid('workers', 'a whole number from 1 to 256, or auto.', 'all'),
    ...invalid('store', 'a path such as reams.db, or postgres://user@host/database.', ''),
    [{ store: 'postgress://me:secret@example.com/db' }, {}, `${store} postgress:// URL.`],
    [{ store: 'mysql://me:secret@example.com/db' }, {}, `${store} mysql:// URL.`],
    [
      { baseUrl: 'https://me:secret@example.com' },
      {},
      `Invalid --base-url: The URL contains a user name or a password: leave them out. ${address}`,
    ],
    ...invalid('rateLimit', rate, ...noRates),
    ...invalid('writeRateLimit', rate, ...noRates),
    ...invalid('trustProxy', network, ...noNetworks),
    ...invalid('corsOrigin', origin, ...noOrigins),
    ...invalid('expires', lifetime, ...noLifetimes),
    ...invalid('shutdownTimeout', time, '10', 's', '-1s', '1.5s', '10 s', '1h', '61m', '10S'),
    ...invalid('drainDelay', time, 'long'),
    ...invalid('retention', retention, ...noRetentions),
    ...invalid('retentionBytes', size, ...noSizes),
  ]
  for (const [flags, environment, message] of wrong)
    it(message, () => assert.throws(() => valuesOf(flags, environment), { name: 'Failure', exitStatus: 2, message }))
})
