import { describeHistory } from './describe-history.ts'
import { openSqliteForTest } from './sqlite-engine.ts'

describeHistory('sqlite', { open: openSqliteForTest })
