/** The field for a token. It goes to the session and is never written down: not into storage, not into an address. */

import { button, type Child, element } from './element.ts'
import { popover } from './popover.ts'
import type { Session } from './session.ts'

export function tokenPopover(session: Session, onChange: () => void): Child[] {
  const field = element('input', { type: 'password', id: 'token-field', autocomplete: 'off', spellcheck: 'false' })
  const said = element(
    'p',
    {},
    'For private collections. It is kept in the memory of this tab, and gone with a reload.',
  )
  const use = (token: string) => {
    if (/[^!-~]/.test(token)) {
      said.textContent = 'A token has no blanks and no letters beyond ASCII. Copy it again.'
      return
    }
    session.use(token)
    field.value = ''
    opener.textContent = token ? 'Token ✓' : 'Token'
    panel.hidePopover()
    onChange()
  }
  const submit = (event: Event) => {
    event.preventDefault()
    use(field.value.trim())
  }
  const actions = element(
    'div',
    { class: 'row' },
    element('button', {}, 'Use'),
    button('Forget', () => use('')),
  )
  const form = element('form', { submit }, element('label', { for: 'token-field' }, 'Token'), field, actions)
  const [opener, panel] = popover('token', 'Token', form, said) as [HTMLElement, HTMLElement]
  return [opener, panel]
}
