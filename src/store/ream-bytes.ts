/** The bytes of a ream and what must be known of them without inflating. */

export interface ReamBytes {
  /** The items that are still there. */
  readonly count: number
  readonly rawLength: number
  readonly crc: number
  /** Raw deflate, ended by a sync flush. */
  readonly data: Uint8Array
}
