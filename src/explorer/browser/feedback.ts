/** Says what happened, to those who see the page and to those who hear it; and copies to the clipboard. */

/** A few seconds are enough to read it. */
const SHOWN_MS = 4000

/** `isSilent`: only for those who hear it, because the page itself shows it. */
export function announce(text: string, isSilent = false): void {
  const status = document.getElementById('status')
  if (status === null) return
  status.textContent = text
  status.className = isSilent ? 'unseen' : ''
  setTimeout(() => {
    if (status.textContent === text) status.textContent = ''
  }, SHOWN_MS)
}

/** `what` is the label of the button. The text may still be on its way. */
export async function copy(what: string, text: string | Promise<string>): Promise<void> {
  const isCopied = await write(text).catch(() => false)
  announce(isCopied ? `Copied: ${what.replace('Copy ', '')}.` : 'The browser did not let it be copied.')
}

async function write(text: string | Promise<string>): Promise<boolean> {
  const blob = Promise.resolve(text).then((content) => new Blob([content], { type: 'text/plain' }))
  try {
    await navigator.clipboard.write([new ClipboardItem({ 'text/plain': blob })])
    return true
  } catch {
    return writeFromArea(await text)
  }
}

/** Where a page without https has no clipboard of its own. */
function writeFromArea(text: string): boolean {
  const { activeElement } = document
  const area = document.createElement('textarea')
  area.className = 'unseen'
  area.value = text
  document.body.append(area)
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  if (activeElement instanceof HTMLElement) activeElement.focus()
  return isCopied
}
