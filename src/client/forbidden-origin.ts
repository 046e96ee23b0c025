/** The error for a link or a redirect to another origin than the one that was asked. */

import { ClientError } from './client-error.ts'

export class ForbiddenOrigin extends ClientError {
  override readonly name = 'ForbiddenOrigin'
  /** Where it leads; undefined where a browser does not show that. */
  readonly target: string | undefined

  /** `what` is the link, or the redirect. */
  constructor(url: string, what: string, target?: string) {
    const where = target === undefined ? 'to an address that the browser does not show' : `to ${target}`
    const why =
      target === undefined
        ? 'Ask that address instead.'
        : `That is another origin than ${new URL(url).origin}; the option allowedOrigins allows it.`
    super('Another origin', url, `${what} leads ${where}. ${why}`)
    this.target = target
  }
}
