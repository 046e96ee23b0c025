/** The error for an answer that is not a page of a collection, or contradicts itself. */

import { ClientError } from './client-error.ts'

export class InvalidPage extends ClientError {
  override readonly name = 'InvalidPage'

  constructor(url: string, why: string, cause?: unknown) {
    super('The answer breaks the contract', url, `${why}.`, { status: 200, cause })
  }
}
