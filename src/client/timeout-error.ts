/** The error for a page that was not complete in time. */

import { ClientError } from './client-error.ts'

export class TimeoutError extends ClientError {
  override readonly name = 'TimeoutError'

  constructor(url: string, timeoutMs: number) {
    super(
      'Request timed out',
      url,
      `the answer was not complete after ${timeoutMs} ms. The option timeoutMs gives it longer.`,
    )
  }
}
