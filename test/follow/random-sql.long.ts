/** Random SQL against followed tables of all kinds, many more plans than `npm test` tries. */

import { describeRandomSql } from './random-sql.ts'

describeRandomSql(60, ['plain', 'partitioned', 'inherited'])
