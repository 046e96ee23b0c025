/** The form of tokens, and of the names by which people know them. */

/** By this a token is recognised wherever it turns up, also by programs that look for secrets in source code. */
export const TOKEN_PREFIX = 'reams_'

const TOKEN = new RegExp(`^${TOKEN_PREFIX}[A-Za-z0-9_-]{43}$`)

/** Whether a text can be a token: the prefix, and 256 bits as base64url. */
export function isTokenForm(text: string): boolean {
  return TOKEN.test(text)
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/

/** The rule in words, for messages. */
export const TOKEN_NAME_RULE = '1 to 64 of a-z A-Z 0-9 _ - . and the first one a letter or a digit'

/** Whether a token can have that name. */
export function isTokenName(text: string): boolean {
  return NAME.test(text)
}
