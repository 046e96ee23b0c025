import assert from 'node:assert/strict'
import { it } from 'node:test'
import { openAdmin } from '../../src/cli/commands/serve/admin.ts'
import { Draining } from '../../src/cli/commands/serve/draining.ts'
import { SettingValues } from '../../src/cli/setting-values.ts'
import { openSqliteForTest } from '../store/sqlite-engine.ts'

it('/ready fails if draining begins during the check of the store', async () => {
  const told = Promise.withResolvers<void>()
  await using resources = new AsyncDisposableStack()
  const { store } = resources.adopt(await openSqliteForTest(), (each) => each.remove())
  const settings = new SettingValues(['host', 'port', 'adminHost', 'adminPort'], { adminPort: '0' }, {})
  const admin = resources.use(await openAdmin(settings, new Draining(told.promise)))
  // Called just before the store is checked.
  const countWorkers = () => {
    told.resolve()
    return 1
  }
  const rest = { port: 0, renewTls() {}, readMetrics: async () => [], async [Symbol.asyncDispose]() {} }
  admin.watch(store, { ...rest, countWorkers })
  const response = await fetch(new URL('/ready', admin.url))
  assert.deepEqual([response.status, await response.text()], [503, 'draining\n'])
})
