/** `curl` and client code for what is on the screen. */

import { copyButton } from './copy.ts'
import { type Child, element } from './element.ts'
import { popover } from './popover.ts'
import type { Session } from './session.ts'

export interface CodeParts {
  /** The options of the client, as a further value; empty without a token. */
  readonly options: string
  /** A call of `fetch`. */
  readonly request: string
}

/** The token itself stands in none of it. */
export function codePopover({ token }: Session, url: string, script: (parts: CodeParts) => string): Child[] {
  const quoted = `'${url.replaceAll("'", '%27')}'`
  const curl = `curl ${quoted}${token ? ' -H "Authorization: Bearer $TOKEN"' : ''}`
  const code = script({
    options: token ? ', { token }' : '',
    request: `await fetch(${quoted}${token ? ", { headers: { Authorization: 'Bearer ' + token } }" : ''})`,
  })
  return popover('code', 'Code', snippet('curl', curl), snippet('JavaScript', code))
}

function snippet(name: string, text: string): HTMLElement {
  const copy = copyButton(`Copy ${name}`, () => text)
  const head = element('div', { class: 'row' }, element('h2', {}, name), copy)
  return element('section', {}, head, element('pre', { tabindex: 0 }, text))
}
