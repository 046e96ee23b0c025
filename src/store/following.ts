/** What a collection that follows a table, or mirrors another collection, says about itself. */

/** What keeps a collection true to a table, or to a collection elsewhere, last said about it. */
export interface Following {
  /** What messages call the table and its database; never with a password. */
  readonly source: string
  /** Rows that wait there to be taken; versions, of a mirror. */
  readonly waiting: number
  /** The moment of the source that the collection shows, in milliseconds since 1970. */
  readonly asOf: number
  /** When this was said, in milliseconds since 1970. */
  readonly seenAt: number
  /** Names whoever said it, so that another one can tell whether that still runs. */
  readonly holder?: string
}

export interface NamedFollowing extends Following {
  /** Of the collection. */
  readonly name: string
}

/** Whoever says it says it again so often, while it runs… */
export const NOTE_MS = 2_000
/** …and within this time even where it is slow. */
export const RECENT_MS = 10_000
