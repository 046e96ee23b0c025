/** The error for an answer above the limit of bytes. What it had beyond that was not read. */

import { ClientError } from './client-error.ts'

export class PageTooLarge extends ClientError {
  override readonly name = 'PageTooLarge'

  constructor(url: string, pageBytes: number) {
    super(
      'The answer is too large',
      url,
      `it has more than ${pageBytes} bytes, unpacked. The option pageBytes sets the limit.`,
      { status: 200 },
    )
  }
}
