/** Keys as PostgreSQL's rows hold them: bytes, which are compared as they are in every database. */

/** Half of a surrogate pair cannot be written in UTF-8, so no item has such a key: null is equal to none. */
export function keyBytes(key: string): Buffer | null {
  return key.isWellFormed() ? Buffer.from(key) : null
}
