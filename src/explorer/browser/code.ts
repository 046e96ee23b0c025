/** `curl` and client code for what is on the screen. */

import { copyButton } from './copy.ts'
import { type Child, element } from './element.ts'
import { popover } from './popover.ts'
import type { Session } from './session.ts'

/** `script` is given the options of the client, and the request that `fetch` needs. The token itself stands in neither. */
export function codePopover(
  { token }: Session,
  url: string,
  script: (options: string, request: string) => string,
): Child[] {
  const quoted = `'${url.replaceAll("'", '%27')}'`
  const curl = `curl ${quoted}${token ? ' -H "Authorization: Bearer $TOKEN"' : ''}`
  const [options, headers] = token ? [', { token }', ', { headers: { Authorization: `Bearer ${token}` } }'] : ['', '']
  const code = script(options, `await fetch(${quoted}${headers})`)
  return popover('code', 'Code', snippet('curl', curl), snippet('JavaScript', code))
}

function snippet(name: string, text: string): HTMLElement {
  const head = element(
    'div',
    { class: 'row' },
    element('h2', {}, name),
    copyButton(`Copy ${name}`, () => text),
  )
  return element('section', {}, head, element('pre', { tabindex: 0 }, text))
}
