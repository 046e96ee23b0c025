/** Figures as people read them. */

export function count(number: number): string {
  return number.toLocaleString('en-US')
}

/** `1 item`, `1,234 items`. */
export function counted(number: number, noun: string): string {
  return `${count(number)} ${noun}${number === 1 ? '' : 's'}`
}

/** Beside the figures of a list, where a part of the store cannot be reached. */
export const PART_AWAY = 'and perhaps more: a part of the store is away'

export function bytes(length: number): string {
  if (length < 1000) return `${length} B`
  const isLarge = length >= 999_500
  return `${(length / (isLarge ? 1e6 : 1e3)).toPrecision(3)} ${isLarge ? 'MB' : 'kB'}`
}
