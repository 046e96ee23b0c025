/** What the user asks of a collection. */

import type { CollectionSettings } from '../store/store.ts'
import type { SettingValues } from './setting-values.ts'

/** Only what the user gave: the rest comes from the stored collection. */
export function requestedSettings(settings: SettingValues): Partial<CollectionSettings> {
  return {
    ...(settings.isGiven('key') && { keyField: settings.get('key') ?? null }),
    ...(settings.isGiven('unpaginated') && { isPaginated: !settings.get('unpaginated') }),
    ...(settings.isGiven('private') && { isPrivate: settings.get('private') }),
  }
}
