/** Keeps the token out of the report: a server can repeat it in its answers, whole or cut off, plain or escaped. */

import { hideSecret } from '../contract/message-text.ts'
import type { Report } from './report.ts'

export function hideToken(report: Report, token: string): Report {
  const forms = new Set([token, JSON.stringify(token).slice(1, -1), encodeURIComponent(token), encodeURI(token)])
  const hide = (_name: string, value: unknown) =>
    typeof value === 'string' ? [...forms].reduce(hideSecret, value) : value
  // The report is data, and comes back in the same form.
  return JSON.parse(JSON.stringify(report), hide)
}
