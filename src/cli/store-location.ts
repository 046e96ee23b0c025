/** Where a store is, as the user named it: a path, or the URL of a database, whose password nothing here shows. */

import { isPostgresUrl, readStoreLabel } from '../store/postgres/store-label.ts'

export class StoreLocation {
  readonly isDatabase: boolean
  /** Whether it holds a password. */
  readonly hasPassword: boolean
  /** To be shown: without the password. */
  readonly label: string
  readonly #text: string

  constructor(text: string) {
    this.#text = text
    this.isDatabase = isPostgresUrl(text)
    const { label, hasPassword } = this.isDatabase ? readStoreLabel(text) : { label: text, hasPassword: false }
    this.label = label
    this.hasPassword = hasPassword
  }

  /** With the password: for whoever opens it, and nobody else. */
  reveal(): string {
    return this.#text
  }

  /** The label as a word that a shell takes as it is. */
  get word(): string {
    return this.isDatabase ? `'${this.label.replaceAll("'", '%27')}'` : this.label
  }

  toString(): string {
    return this.label
  }
}
