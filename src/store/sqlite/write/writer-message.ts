/** What goes between the store and its writer thread. */

import type { ChangeCall } from '../../changes.ts'
import type { Once } from '../../store.ts'
import { ItemConflict, StoreError } from '../../store-error.ts'
import { SweepNeeded } from './lease.ts'
import type { Steps } from './steps.ts'

export type StepName = Exclude<keyof Steps, 'savePositions'>

/** A change of one collection; with `once`, only the first time. */
export interface NamedChange {
  readonly name: string
  readonly once: Once | undefined
  readonly change: ChangeCall
}

/** Anything else. */
export interface StepCall {
  readonly operation: StepName
  readonly parameters: readonly unknown[]
}

export type WriterCall = NamedChange | StepCall

export type Outcome = { readonly value: unknown } | { readonly failure: Failure }

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
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error))
  if (!(error instanceof StoreError)) return { name, message, stack }
  const { code, collection } = error
  const conflict = error instanceof ItemConflict ? { index: error.index, key: error.key } : {}
  return { name, message, stack, code, collection, ...conflict }
}

export function unpackError(failure: Failure): Error {
  const { name, message, code, collection, index, key } = failure
  if (name === 'SweepNeeded') return new SweepNeeded()
  if (index !== undefined && key !== undefined) return new ItemConflict(index, key)
  if (code !== undefined) return new StoreError(code, message, { collection })
  const error = new Error(message)
  if (failure.stack !== undefined) error.stack = failure.stack
  return error
}
