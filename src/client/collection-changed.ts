/** The error for a collection from which something was removed while it was read, so that items may be missing or twice. */

import { ClientError } from './client-error.ts'

export class CollectionChanged extends ClientError {
  override readonly name = 'CollectionChanged'

  /** `why` says what showed it. */
  constructor(url: string, why: string) {
    super('The collection changed while it was read', url, `${why}, so items may be missing or twice. Read it again.`)
  }
}
