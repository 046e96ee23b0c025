/** Keeps the token out of the report: a server can repeat it in its answers, whole or cut off, plain or escaped. */

import type { Report } from './report.ts'

/** So many characters at its beginning are enough to know it again. */
const BEGINNING = 8

export function hideToken(report: Report, token: string): Report {
  const forms = new Set([token, JSON.stringify(token).slice(1, -1), encodeURIComponent(token), encodeURI(token)])
  const hide = (_name: string, value: unknown) =>
    typeof value === 'string' ? [...forms].reduce(withoutToken, value) : value
  // The report is data, and comes back in the same form.
  return JSON.parse(JSON.stringify(report), hide)
}

/** Hides what begins as the token does, as far as it is the token. */
function withoutToken(text: string, token: string): string {
  const [before = '', ...pieces] = text.split(token.slice(0, BEGINNING))
  const rest = token.slice(BEGINNING)
  return [before, ...pieces.map((piece) => piece.slice(sharedLength(piece, rest)))].join('…')
}

function sharedLength(a: string, b: string): number {
  let length = 0
  while (length < a.length && a[length] === b[length]) length++
  return length
}
