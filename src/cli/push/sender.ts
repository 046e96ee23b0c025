/** Sends a batch until it is answered, or until there is no sense in sending it again. */

import { setTimeout as sleep } from 'node:timers/promises'
import { backOffMs, isWorthRetrying, type RetryPolicy, retryAfterMs } from '../../client/retry.ts'
import { formatDuration } from '../figures.ts'
import { readAnswer, reasonIn } from './answer.ts'
import { type Batch, placeOf } from './batch.ts'
import { type Answer, NoAnswer, type PushConnection } from './connection.ts'
import type { Packed } from './pack.ts'
import type { PushState } from './state.ts'
import { PushStopped } from './stopped.ts'

export interface SenderOptions {
  readonly url: string
  readonly token: string | undefined
  readonly policy: RetryPolicy
  readonly signal: AbortSignal
  /** Told why the push waits. */
  readonly onWait: (text: string) => void
}

export class PushSender {
  readonly #connection: PushConnection
  readonly #options: SenderOptions

  constructor(connection: PushConnection, options: SenderOptions) {
    this.#connection = connection
    this.#options = options
  }

  /** Answers how many items the collection has now. Throws a PushStopped. */
  async send(batch: Batch, packed: Packed, state: PushState): Promise<number> {
    const { url } = this.#options
    const headers = this.#headers(packed, state.keyOf(batch))
    // One that was left unanswered before may be there already.
    let isOpen = state.noted.unanswered !== undefined && batch.first === state.noted.acknowledged
    for (let retry = 1; ; retry++) {
      const answer = await this.#ask(packed.body, headers)
      if (!(answer instanceof NoAnswer) && !isWorthRetrying(answer.status)) return judge(answer, batch, url, isOpen)
      isOpen ||= wasSent(answer)
      const end = (await this.#wait(answer, retry)) ?? forgotten(state)
      if (end === undefined) continue
      const message = `${url} has not taken ${placeOf(batch)}: ${reasonOf(answer)}. ${end}`
      throw new PushStopped(3, isOpen, message, { cause: answer instanceof NoAnswer ? answer : undefined })
    }
  }

  #headers({ body, headers }: Packed, key: string): Record<string, string> {
    const { token } = this.#options
    return {
      'Content-Type': 'application/json',
      'Content-Length': String(body.length),
      Accept: 'application/json',
      'Idempotency-Key': key,
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...headers,
    }
  }

  async #ask(body: Uint8Array, headers: Record<string, string>): Promise<Answer | NoAnswer> {
    try {
      return await this.#connection.post(body, headers, this.#options.signal)
    } catch (error) {
      if (error instanceof NoAnswer) return error
      throw error
    }
  }

  /** Waits before a retry; or answers why there is to be none. */
  async #wait(answer: Answer | NoAnswer, retry: number): Promise<string | undefined> {
    const { url, policy, signal, onWait } = this.#options
    if (answer instanceof NoAnswer && !answer.isWorthRetrying)
      return url.startsWith('https:') ? 'Check the URL and the certificate.' : 'Check the URL.'
    if (retry > policy.retries) return retry === 1 ? 'It was tried once.' : `It was tried ${retry} times.`
    const asked = answer instanceof NoAnswer ? null : (answer.header('retry-after') ?? null)
    const pauseMs = Math.max(retryAfterMs(asked, Date.now()) ?? 0, backOffMs(retry, policy))
    if (pauseMs > policy.mostRetryAfterMs) return `It asks to wait ${formatDuration(pauseMs)}.`
    onWait(`${reasonOf(answer)}; sending again in ${formatDuration(pauseMs)} (retry ${retry} of ${policy.retries}).`)
    // Whether the batch may be there is known here, also when somebody stops the push now.
    return sleep(pauseMs, undefined, { signal }).catch(() => 'It was stopped.')
  }
}

/** A machine can sleep for days between two retries. */
function forgotten(state: PushState): string | undefined {
  return state.isRemembered(Date.now()) ? undefined : 'After so long the server may have forgotten the request.'
}

function judge(answer: Answer, batch: Batch, url: string, isOpen: boolean): number {
  try {
    return readAnswer(answer, batch, url)
  } catch (error) {
    throw error instanceof PushStopped && isOpen ? new PushStopped(error.exitStatus, true, error.message) : error
  }
}

function wasSent(answer: Answer | NoAnswer): boolean {
  return answer instanceof NoAnswer ? answer.wasSent : true
}

function reasonOf(answer: Answer | NoAnswer): string {
  return answer instanceof NoAnswer ? answer.message : reasonIn(answer)
}
