/** The error for a link or a redirect to another origin than the one that was asked. */

import { ClientError } from './client-error.ts'

export class ForbiddenOrigin extends ClientError {
  override readonly name = 'ForbiddenOrigin'
  /** Where it leads; undefined where a browser does not show that. */
  readonly target: string | undefined

  /** `what` is the link, or the redirect. */
  constructor(url: string, what: string, status: number | undefined, target?: string) {
    super('Another origin', url, `${what} leads to ${whereAndWhy(url, target)}`, { status })
    this.target = target
  }
}

function whereAndWhy(url: string, target: string | undefined): string {
  if (target === undefined) return 'an address that the browser does not show. Ask that address instead.'
  if (!/^https?:/.test(target)) return `${target}. Pages are read by http: and https: alone.`
  return `${target}. That is another origin than ${new URL(url).origin}; the option allowedOrigins allows it.`
}
