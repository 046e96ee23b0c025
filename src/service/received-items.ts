/** The items that come with a write. */

import type { ItemRun } from '../items/item-run.ts'
import type { Once } from '../store/store.ts'
import type { Body } from './body.ts'
import { type BodyType, bodyTypeOf } from './body-type.ts'
import type { Call } from './call.ts'
import { onceOf } from './idempotency.ts'
import type { Limits } from './limits.ts'
import { readBody } from './request-body.ts'

export type ReadItems = (body: Body, type: BodyType, keyField: string | null, limits: Limits) => Promise<ItemRun>

export interface ReceivedItems {
  readonly run: ItemRun
  readonly once?: Once
}

/** Throws a Refusal for what cannot be taken; what the headers tell is looked at before the body is read. */
export async function receiveItems(call: Call, read: ReadItems, keyField: string | null): Promise<ReceivedItems> {
  const type = bodyTypeOf(call.request)
  const onceFor = onceOf(call)
  const body = await readBody(call, call.limits.bodyBytes)
  return { run: await read(body, type, keyField, call.limits), ...(await onceFor(body)) }
}
