/** What a command that did not succeed says, and with which status it exits: one place for all kinds of errors. */

import { StoreError } from '../store/store-error.ts'

/** 1: the answer is no, or an item is bad. 2: used wrongly. 3: could not tell, because of the surroundings. */
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

const STORE_STATUS: Readonly<Record<StoreError['code'], FailureStatus>> = {
  'missing-store': 2,
  'not-a-store': 2,
  'newer-store': 3,
  unsupported: 3,
  corrupt: 3,
  'read-only': 3,
  full: 3,
  'no-permission': 3,
  unavailable: 3,
  overloaded: 3,
  'outcome-unknown': 3,
  closed: 3,
  'invalid-name': 2,
  'no-collection': 2,
  'collection-exists': 1,
  'settings-differ': 1,
  'no-key-field': 1,
  'no-item': 1,
  'unpaginated-full': 1,
  'key-conflict': 1,
  'collection-changed': 3,
  'precondition-failed': 1,
  'request-differs': 1,
  'token-exists': 1,
  'no-token': 2,
  busy: 3,
  'lease-lost': 3,
}

/** The status and the line for people; the line does not yet begin with the program's name. */
export function describeFailure(error: unknown): { exitStatus: FailureStatus; message: string } {
  if (error instanceof Failure) return { exitStatus: error.exitStatus, message: error.message }
  if (error instanceof StoreError) return { exitStatus: STORE_STATUS[error.code], message: error.message }
  if (isSystemError(error)) return { exitStatus: 3, message: `the system refused: ${error.message}.` }
  return { exitStatus: 3, message: `unexpected error: ${nameAndMessage(error)} (REAMS_DEBUG=1 shows where)` }
}

/** Errors of the operating system, such as a full disk or a file without permission. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException & { code: string; syscall: string } {
  return error instanceof Error && 'code' in error && 'syscall' in error
}

function nameAndMessage(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
}
