import { describeRandomSql } from './random-sql.ts'

/** Of each kind of table; `random-sql.long.ts` tries many more. */
const RUNS = 4

describeRandomSql(Number(process.env['REAMS_TEST_RUNS'] ?? RUNS))
