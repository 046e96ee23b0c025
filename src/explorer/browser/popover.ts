/** A button and what it opens. The browser closes it by Escape or by a click elsewhere. */

import { type Child, element } from './element.ts'

export function popover(id: string, label: string, ...children: readonly Child[]): Child[] {
  return [
    element('button', { type: 'button', popovertarget: id }, label),
    element('div', { id, popover: 'auto', role: 'dialog', 'aria-label': label }, ...children),
  ]
}
