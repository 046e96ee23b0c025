/** Bytes as text that can be read and typed in again: everything but plain ASCII is escaped. */

export function shown(bytes: Buffer, most: number = 2_000): string {
  const text = JSON.stringify(bytes.subarray(0, most).toString('latin1')).replace(/[\x7f-\xff]/g, escaped)
  return bytes.length > most ? `${text} and ${bytes.length - most} bytes more` : text
}

function escaped(character: string): string {
  return `\\u00${character.charCodeAt(0).toString(16).padStart(2, '0')}`
}
