/** What a command that did not succeed says, and with which status it exits: one place for all kinds of errors. */

import type { InputError } from '../items/input-error.ts'
import { StoreError } from '../store/store-error.ts'
import { TableError, type TableErrorKind } from '../tables/table.ts'

/** 1: the answer is no, or an item is bad. 2: wrong usage. 3: could not tell, because of the surroundings. */
export type FailureStatus = 1 | 2 | 3

/** An error with a message for the user, complete as it is. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly exitStatus: FailureStatus

  constructor(exitStatus: FailureStatus, message: string, options?: ErrorOptions) {
    super(message, options)
    this.exitStatus = exitStatus
  }
}

/** Whatever else goes wrong in a store is because of the surroundings. */
const STORE_STATUS: Partial<Record<StoreError['code'], FailureStatus>> = {
  'missing-store': 2,
  'not-a-store': 2,
  'invalid-name': 2,
  'invalid-key-fields': 2,
  'no-collection': 2,
  'no-token': 2,
  'collection-exists': 1,
  'settings-differ': 1,
  'no-key-field': 1,
  'no-item': 1,
  'unpaginated-full': 1,
  'key-conflict': 1,
  'precondition-failed': 1,
  'request-differs': 1,
  'token-exists': 1,
  mirror: 1,
}

const TABLE_STATUS: Readonly<Record<TableErrorKind, FailureStatus>> = { data: 1, usage: 2, surroundings: 3 }

/** The status and the line for people; the line does not yet begin with the program's name. */
export function describeFailure(error: unknown): { exitStatus: FailureStatus; message: string } {
  if (error instanceof Failure) return { exitStatus: error.exitStatus, message: error.message }
  if (error instanceof StoreError) return { exitStatus: STORE_STATUS[error.code] ?? 3, message: error.message }
  if (error instanceof TableError) return { exitStatus: TABLE_STATUS[error.kind], message: error.message }
  if (isSystemError(error)) return { exitStatus: 3, message: `the system refused: ${error.message}.` }
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return { exitStatus: 3, message: `unexpected error: ${text} (REAMS_DEBUG=1 shows where)` }
}

/** For bad input: names its source, and says what became of it. */
export function inputFailure(error: InputError, label: string, result: string, unit: 'line' | 'row' = 'line'): Failure {
  const separator = error.line === undefined ? ': ' : ', '
  return new Failure(1, `${label}${separator}${error.describe(unit)}. ${result}`, { cause: error })
}

/** Errors of the operating system, such as a full disk or a file without permission. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException & { code: string; syscall: string } {
  return error instanceof Error && 'code' in error && 'syscall' in error
}
