/** Copying to the clipboard, also where a page without https has none of its own. */

import { announce } from './announce.ts'
import { button, element } from './element.ts'

export function copyButton(label: string, text: () => string): HTMLButtonElement {
  return button(label, async () => {
    const isCopied = await copy(text())
    announce(isCopied ? `Copied: ${label.replace('Copy ', '')}.` : 'The browser did not let it be copied.')
  })
}

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const { activeElement } = document
    const area = element('textarea', { class: 'unseen' })
    area.value = text
    document.body.append(area)
    area.select()
    const isCopied = document.execCommand('copy')
    area.remove()
    if (activeElement instanceof HTMLElement) activeElement.focus()
    return isCopied
  }
}
