import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { DEFAULT_LIMITS } from '../../../src/service/limits.ts'
import { describeService } from '../../../src/service/openapi/describe-service.ts'
import { fill, numbered, openService } from '../open-service.ts'

/** Rules of the linter that do not fit, each with the reason. */
const LEFT_OUT = {
  // The licence of the data is known to whoever runs the service, not to the service.
  'info-license': 'off',
} as const

async function flawsIn(source: string): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'], rules: LEFT_OUT })
  const found = await lintFromString({ source, config })
  return found.map(
    ({ severity, ruleId, message, location: [at] }) => `${severity} ${ruleId}: ${message} ${at?.pointer ?? ''}`,
  )
}

describe('the description, by a linter', () => {
  it('has no errors and no warnings: with collections of every kind, and with names that are hard to tell apart', async (t) => {
    const { store, get } = await openService(t)
    await fill(store, 'events', numbered(3))
    await fill(store, 'venues', numbered(3), { isPaginated: false })
    for (const name of ['events.page', 'events.item', 'events-page', 'any', 'service', 'item', '7', 'constructor'])
      await fill(store, name, [], { keyField: null })
    for (const [index, keyField] of ['__proto__', '$ref', '<b>', 'a/b~c', 'ключ'].entries())
      await fill(store, `key.${index}`, [], { keyField })
    assert.deepEqual(await flawsIn(await (await get('/-/openapi.json')).text()), [])
  })

  it('has none without any collection, with another base URL, where everybody needs a token, and without an explorer', async () => {
    const baseUrl = 'https://api.reams.test/v1'
    const instance = { baseUrl, requiresToken: true, limits: DEFAULT_LIMITS, collections: [], others: 3 }
    for (const hasExplorer of [true, false])
      assert.deepEqual(await flawsIn(JSON.stringify(describeService({ ...instance, hasExplorer }))), [])
  })

  it('is really judged: what is wrong is found', async (t) => {
    const { get } = await openService(t)
    const source = await (await get('/-/openapi.json')).text()
    assert.match(
      (await flawsIn(source.replace('"operationId":"readEntry"', '"operationId":"readHealth"'))).join(),
      /unique/,
    )
    assert.match((await flawsIn(source.replaceAll('"href":"', '"hrev":"'))).join(), /no-invalid-media-type-examples/)
  })
})
