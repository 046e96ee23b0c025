/** Keeps the token out of messages: a server can repeat it, whole or cut off, in what it answers. */

/** So many characters at its beginning are enough to know it again. */
const BEGINNING = 8

export function hideToken(text: string, token: string | undefined): string {
  if (token === undefined) return text
  const [before = '', ...pieces] = text.split(token.slice(0, BEGINNING))
  const rest = token.slice(BEGINNING)
  return [before, ...pieces.map((piece) => piece.slice(sharedLength(piece, rest)))].join('…')
}

function sharedLength(a: string, b: string): number {
  let length = 0
  while (length < a.length && a[length] === b[length]) length++
  return length
}
