/** Random SQL against followed tables, many more plans than `npm test` tries. */

import { describeRandomSql } from './random-sql.ts'

describeRandomSql(60)
