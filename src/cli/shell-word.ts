/** Quotes a text for a POSIX shell, for commands in messages. */

const PLAIN = /^[\w@%+=:,./-]+$/

export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
