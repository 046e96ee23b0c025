import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createRedactor } from '../../src/cli/commands/serve/secrets.ts'
import { SettingValues } from '../../src/cli/setting-values.ts'

it('the password of a database is hidden as it is in the URL, and as plain text', () => {
  const hide = createRedactor(new SettingValues(['store'], { store: 'postgres://app:p%40ss%20word@db/reams' }, {}))
  for (const text of ['"p@ss word" is wrong', 'p%40ss%20word is wrong', 'postgres://app:p%40ss%20word@db/reams'])
    assert.doesNotMatch(hide(text), /p(@|%40)ss/)
  assert.equal(hide('nothing to hide'), 'nothing to hide')
})
