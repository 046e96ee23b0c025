/** What goes between the store and its writer thread. */

import type { ChangeName } from '../../changes.ts'
import type { Once } from '../../store.ts'
import { ItemConflict, StoreError } from '../../store-error.ts'
import { SweepNeeded } from './lease.ts'
import type { Steps } from './steps.ts'

export type StepName = Exclude<keyof Steps, 'savePositions'>

/** Asks for a change of one collection. */
export interface ChangeMessage {
  readonly id: number
  readonly name: string
  readonly operation: ChangeName
  readonly parameters: readonly unknown[]
  readonly once: Once | undefined
}

/** Asks for anything else. */
export interface StepMessage {
  readonly id: number
  readonly operation: StepName
  readonly parameters: readonly unknown[]
}

export type CallMessage = ChangeMessage | StepMessage

/** Asks a thread to close its connection and end. */
export const END = 'end'
export type EndMessage = typeof END

export type ReplyMessage =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly failure: Failure }

/** An error in a form that survives the way between threads, where classes get lost. */
export interface Failure {
  readonly name: string
  readonly message: string
  readonly stack: string | undefined
  readonly code?: StoreError['code']
  readonly collection?: string | undefined
  readonly index?: number
  readonly key?: string
}

export function packError(error: unknown): Failure {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error), stack: undefined }
  const { name, message, stack } = error
  if (error instanceof ItemConflict)
    return { name, message, stack, code: error.code, index: error.index, key: error.key }
  if (error instanceof StoreError) return { name, message, stack, code: error.code, collection: error.collection }
  return { name, message, stack }
}

export function unpackError(failure: Failure): Error {
  const { name, message, code, collection, index, key } = failure
  if (name === 'SweepNeeded') return new SweepNeeded(message)
  if (index !== undefined && key !== undefined) return new ItemConflict(index, key)
  if (code !== undefined) return new StoreError(code, message, { collection })
  const error = new Error(message)
  if (failure.stack !== undefined) error.stack = failure.stack
  return error
}
