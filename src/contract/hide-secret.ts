/** Keeps a secret out of messages: a server can repeat a token, whole or cut off, in what it answers. Pure. */

/** So many characters at its beginning are enough to know it again. */
const BEGINNING = 8

/** Hides what begins as the secret does, as far as it is the secret. */
export function hideSecret(text: string, secret: string | undefined): string {
  if (secret === undefined) return text
  const [before = '', ...pieces] = text.split(secret.slice(0, BEGINNING))
  const rest = secret.slice(BEGINNING)
  return [before, ...pieces.map((piece) => piece.slice(sharedLength(piece, rest)))].join('…')
}

function sharedLength(a: string, b: string): number {
  let length = 0
  while (length < a.length && a[length] === b[length]) length++
  return length
}
