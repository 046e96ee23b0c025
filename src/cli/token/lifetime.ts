/** How long a token is valid, as people write it: `90d`, or `never` for one without an end. */

const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Six digits: the end of any such time is still a date. */
const LIFETIME = /^([1-9][0-9]{0,5})([mhd])$/

/** The rule in words, for messages. */
export const LIFETIME_RULE = 'a number of minutes, hours or days such as 30m, 12h or 90d (up to 999999), or never'

export function isLifetime(text: string): boolean {
  return text === 'never' || LIFETIME.test(text)
}

/** When what begins at `start` ends; null for never. Both in milliseconds since 1970. */
export function endOfLifetime(text: string, start: number): number | null {
  const [, count, unit] = LIFETIME.exec(text) ?? []
  if (unit !== 'm' && unit !== 'h' && unit !== 'd') return null
  return start + Number(count) * UNIT_MS[unit]
}
