/** What is wrong with a stored item, told with JSON.parse: a judge other than the scanner that let it in. */

/** What keeps a text from being an item. */
export function flawOf(text: string): string | undefined {
  if (/[\r\n]/.test(text)) return 'holds a line break'
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? undefined : 'is not a JSON object'
  } catch {
    return 'is not JSON'
  }
}
