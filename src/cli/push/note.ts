/** The note that is kept beside a file: how much of it was pushed to one URL. */

import { hash } from 'node:crypto'

/** A batch that was sent, and of which no answer came yet. */
export interface Unanswered {
  readonly items: number
  /** When it was sent first, in milliseconds. */
  readonly since: number
  /** Tells the token that it was sent with from another one. */
  readonly token: string
}

export interface PushNote {
  readonly url: string
  /** Random: the idempotency key of every batch begins with it. */
  readonly id: string
  /** How many items, from the beginning of the file on. */
  readonly acknowledged: number
  /** Of the texts of these items. */
  readonly sha256: string
  /** When this was noted, in milliseconds. */
  readonly at: number
  readonly unanswered: Unanswered | undefined
}

const ABOUT = 'What reams push has sent of the file beside this one. Delete this note to send the file again.'
const FORMAT = 1

/** Each URL has a note of its own, so that pushes of one file to two places do not meet. */
export function notePath(file: string, url: string): string {
  return `${file}.push-${hash('sha256', url).slice(0, 8)}.json`
}

export function noteText({ at, unanswered, ...note }: PushNote): string {
  const open = unanswered === undefined ? null : { ...unanswered, since: new Date(unanswered.since).toISOString() }
  const fields = { about: ABOUT, format: FORMAT, ...note, at: new Date(at).toISOString(), unanswered: open }
  return `${JSON.stringify(fields, null, 2)}\n`
}

/** Undefined for a text that is not a note for this URL. */
export function parseNote(text: string, expectedUrl: string): PushNote | undefined {
  try {
    const { format, url, id, acknowledged, sha256, at, unanswered } = JSON.parse(text)
    const isSound = isText(id) && isText(sha256) && isTime(at) && isCount(acknowledged)
    if (format !== FORMAT || url !== expectedUrl || !isSound) return undefined
    const note = { url, id, acknowledged, sha256, at: Date.parse(at) }
    if (unanswered === null) return { ...note, unanswered: undefined }
    const { items, since, token } = unanswered
    if (!isCount(items) || !isTime(since) || !isText(token)) return undefined
    return { ...note, unanswered: { items, since: Date.parse(since), token } }
  } catch {
    return undefined
  }
}

function isText(value: unknown): boolean {
  return typeof value === 'string'
}

function isTime(value: unknown): boolean {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value))
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
