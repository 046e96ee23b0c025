/** Where a push goes, or a pull comes from: the URL of one collection. */

import { Failure } from './failure.ts'

export interface PushTarget {
  readonly url: URL
  /** The last part of the path. */
  readonly name: string
  /** Whether it is on this machine, where packing costs more than it saves. */
  readonly isLoopback: boolean
}

const EXAMPLE = 'Expected the URL of a collection, such as https://api.example.com/events.'

/** Throws a Failure that says what is wrong; what could be a secret is not shown. */
export function parseTarget(text: string): PushTarget {
  const shown = text.includes('@') ? 'This' : `"${text}"`
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined) throw new Failure(2, `${shown} is not an absolute URL. ${EXAMPLE}`)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new Failure(2, `${shown} begins with ${url.protocol}, expected http: or https:. ${EXAMPLE}`)
  if (url.username !== '' || url.password !== '')
    throw new Failure(
      2,
      'The URL contains a user name or a password. Leave them out: a token comes from --token-file or REAMS_TOKEN.',
    )
  if (/[?#]/.test(text)) throw new Failure(2, `The URL has a query or a fragment. ${EXAMPLE}`)
  const name = url.pathname.slice(url.pathname.lastIndexOf('/') + 1)
  if (name === '') throw new Failure(2, `${url.href} ends with a slash and names no collection. ${EXAMPLE}`)
  return { url, name, isLoopback: LOOPBACK.test(url.hostname) }
}

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/
