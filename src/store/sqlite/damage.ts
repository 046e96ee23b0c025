/** The error for what is not as it was written. */

import { StoreError } from '../store-error.ts'
import { isDamage } from './explain-error.ts'

/** `collection` is the one that is being read, and known to whoever reads it; undefined if it is not known which that is. */
export function damage(collection: string | undefined, message: string): StoreError {
  const where = collection === undefined ? 'The store' : `The collection "${collection}"`
  return new StoreError(
    'corrupt',
    `${where} is damaged. ${message} \`reams verify\` tells more; restore the store from a backup.`,
    { collection },
  )
}

/** Reads rows of a collection that the reader may know of: what SQLite finds damaged there is named after it. */
export function inCollection<T>(name: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw isDamage(error) ? damage(name, `SQLite says: ${error.message}.`) : error
  }
}
