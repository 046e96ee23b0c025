import { describeStore } from './describe-store.ts'
import { openSqliteForTest } from './sqlite-engine.ts'

describeStore('sqlite', { open: openSqliteForTest })
