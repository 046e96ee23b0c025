/** The settings of a collection as a body holds them. */

import type { CollectionSettings } from '../store/store.ts'
import { quoted } from './problem-response.ts'
import { Refusal } from './refusal.ts'

/** Bytes of a body with settings, at most. */
export const SETTINGS_BYTES = 16 * 1024

/** Characters of the name of a key field, at most. */
export const KEY_FIELD_LENGTH = 256

const FIELDS = ['key', 'paginated', 'private']

/** Throws a Refusal that says what is wrong with them. */
export function settingsOf(body: Uint8Array): CollectionSettings {
  const settings = parseObject(body)
  const unknown = Object.keys(settings).find((field) => !FIELDS.includes(field))
  if (unknown !== undefined) throw wrongSettings(`there is no setting ${quoted(unknown)}`)
  const { key = null, paginated = true, private: isPrivate = false } = settings
  if (key !== null && !isFieldName(key))
    throw wrongSettings(`"key" is the name of a field, 1 to ${KEY_FIELD_LENGTH} characters of Unicode, or null`)
  if (typeof paginated !== 'boolean') throw wrongSettings('"paginated" is true or false')
  if (typeof isPrivate !== 'boolean') throw wrongSettings('"private" is true or false')
  return { keyField: key, isPaginated: paginated, isPrivate }
}

/** Half of a surrogate pair cannot be stored, and no item could have it. */
function isFieldName(key: unknown): key is string {
  return typeof key === 'string' && key !== '' && key.length <= KEY_FIELD_LENGTH && key.isWellFormed()
}

function parseObject(body: Uint8Array): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  } catch {
    // Not JSON: the same answer.
  }
  throw wrongSettings('they are one JSON object')
}

function wrongSettings(reason: string): Refusal {
  const hint = 'Send settings such as {"key":"id","paginated":true,"private":false}.'
  return new Refusal('invalid-body', `These settings cannot be used: ${reason}.`, { hint })
}
