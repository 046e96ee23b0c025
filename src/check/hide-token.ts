/** Keeps the token out of the report: a server can repeat it in its answers, whole or cut off. */

import type { Report } from './report.ts'

/** A word shorter than this is no secret, and hiding it would hide words of the report. */
const LEAST_HIDDEN = 8

export function hideToken(report: Report, token: string): Report {
  if (token.length < LEAST_HIDDEN) return report
  const hide = (_name: string, value: unknown) => (typeof value === 'string' ? withoutToken(value, token) : value)
  // The report is data, and comes back in the same form.
  return JSON.parse(JSON.stringify(report), hide)
}

/** Hides what begins as the token does, as far as it is the token. */
function withoutToken(text: string, token: string): string {
  const [before = '', ...pieces] = text.split(token.slice(0, LEAST_HIDDEN))
  const rest = token.slice(LEAST_HIDDEN)
  return [before, ...pieces.map((piece) => piece.slice(sharedLength(piece, rest)))].join('…')
}

function sharedLength(a: string, b: string): number {
  let length = 0
  while (length < a.length && a[length] === b[length]) length++
  return length
}
