import { describeRandomSql } from './random-sql.ts'

/** A few plans; `random-sql.long.ts` tries many more, on all kinds of tables. */
describeRandomSql(4, ['plain'])
