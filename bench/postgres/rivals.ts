/** What Reams is compared with on PostgreSQL: programs that do the same through `pg` alone. */

import { nodeProgram } from '../child-process.ts'
import { type LoadResult, type LoadSize, startLoadProgram } from '../running-load.ts'

interface DatabasePlan extends LoadSize {
  readonly url: string
  readonly schema: string
  readonly collection: string
}

export interface StatementPlan extends DatabasePlan {
  /** Pages that are asked for, at random. */
  readonly pages: number
}

export interface AppendPlan extends DatabasePlan {
  readonly file: string
  /** In one statement, which is a transaction by itself. */
  readonly isOneStatement: boolean
}

const STATEMENT_LOAD = nodeProgram('./postgres/statement-load.ts')
const APPEND_BY_HAND = nodeProgram('./postgres/append-by-hand.ts')

export function runStatements(plan: StatementPlan, signal: AbortSignal): Promise<LoadResult> {
  return startLoadProgram(STATEMENT_LOAD, plan, signal).result
}

export function appendByHand(plan: AppendPlan, signal: AbortSignal): Promise<LoadResult> {
  return startLoadProgram(APPEND_BY_HAND, plan, signal).result
}
