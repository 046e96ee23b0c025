/** Where a store or a table is: a file or a database, with a label that never shows the password. */

import { isMysqlUrl, isPostgresUrl, readDatabaseLabel } from '../postgres/database-label.ts'
import { shellWord } from './shell-word.ts'

export class DataLocation {
  readonly engine: 'postgres' | 'mysql' | 'file'
  /** Whether it holds a password. */
  readonly hasPassword: boolean
  /** To be shown: without the password. */
  readonly label: string
  readonly #text: string

  /** `fileLabel` is what a file is called in messages, where that is not its path. */
  constructor(text: string, fileLabel: string = text) {
    this.#text = text
    this.engine = engineOf(text)
    const { label, hasPassword } = this.isDatabase ? readDatabaseLabel(text) : { label: fileLabel, hasPassword: false }
    this.label = label
    this.hasPassword = hasPassword
  }

  get isDatabase(): boolean {
    return this.engine !== 'file'
  }

  /** With the password: for whoever opens it, and nobody else. */
  reveal(): string {
    return this.#text
  }

  /** The label as a word that a shell takes as it is. */
  get word(): string {
    return this.isDatabase ? `'${this.label.replaceAll("'", '%27')}'` : shellWord(this.label)
  }

  toString(): string {
    return this.label
  }
}

function engineOf(text: string): 'postgres' | 'mysql' | 'file' {
  if (isPostgresUrl(text)) return 'postgres'
  return isMysqlUrl(text) ? 'mysql' : 'file'
}
