/** A text as a word that a shell takes as it is, for commands in messages. */

const PLAIN = /^[\w@%+=:,./-]+$/

export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
