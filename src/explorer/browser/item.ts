/** One item: its JSON as it was written, and what can be copied of it. */

import { copyButton } from './copy.ts'
import { button, type Child, element } from './element.ts'
import { preformatted } from './value.ts'

export interface ItemOptions {
  readonly title: string
  readonly json: string
  /** Its own address, or that of the page on which it stands. */
  readonly url: string
  readonly isOwnUrl: boolean
  readonly more?: readonly Child[]
}

export function itemBody({ title, json, url, isOwnUrl, more = [] }: ItemOptions): Child[] {
  const copyUrl = copyButton(isOwnUrl ? 'Copy URL' : 'Copy URL of the page', () => url)
  const actions = [copyButton('Copy JSON', () => json), copyUrl, ...more]
  return [element('div', { class: 'row' }, element('h2', { tabindex: -1 }, title), ...actions), preformatted(json)]
}

/** Beside the table. */
export function itemPanel(options: ItemOptions, close: () => void): HTMLElement {
  const more = [...(options.more ?? []), button('Close', close, { class: 'close' })]
  return element('aside', { class: 'item', 'aria-label': options.title }, ...itemBody({ ...options, more }))
}
