/** How far a mirror has come. It is kept with the items, and changes with them in one commit. */

export interface Position {
  /** Names a state of the origin, all of which was taken over. */
  readonly tag: string
  /** So many changes since were taken over, too. */
  readonly changes: number
  /** A later state in the same history, where there were changes: while the origin knows it, the changes before it are these. */
  readonly until?: string
}

/** What stands for the position of a mirror whose origin does not name its states. */
export const WALKED = ''

export function formatPosition({ tag, changes, until }: Position): string {
  return changes === 0 ? tag : `${tag} ${changes} ${until}`
}

/** Undefined for WALKED. */
export function parsePosition(text: string): Position | undefined {
  if (text === WALKED) return undefined
  const [tag = '', changes = '0', until] = text.split(' ')
  return { tag, changes: Number(changes), ...(until !== undefined && { until }) }
}
