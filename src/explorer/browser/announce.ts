/** Says what happened, to those who see the page and to those who hear it. */

/** A few seconds are enough to read it. */
const SHOWN_MS = 4000

/** `isSilent`: for those who hear it alone, because the page itself shows it. */
export function announce(text: string, isSilent = false): void {
  const status = document.getElementById('status')
  if (status === null) return
  status.textContent = text
  status.className = isSilent ? 'unseen' : ''
  setTimeout(() => {
    if (status.textContent === text) status.textContent = ''
  }, SHOWN_MS)
}
