/** `reams set NAME`: changes who can read a collection, how long its earlier states can be read, and that it is a mirror. */

import type { Head, Store } from '../../store/store.ts'
import { Failure } from '../failure.ts'
import { existingHead, withStore } from '../open-store.ts'
import { formatRetention, report } from '../output.ts'
import type { CliCommand, SettingValues } from '../setting-values.ts'

export const SET: CliCommand = {
  name: 'set',
  group: 'Load and change',
  usage: 'NAME [options]',
  summary: 'change who can read a collection, and its history',
  description: `Makes a collection private or public, and sets how long its earlier states can
be read: 24 hours and 1 GiB of them, unless you say otherwise. Items that are
deleted or replaced stay readable until then; "reams forget" drops them at once.
--detach makes a mirror an ordinary collection, which everybody may write to.
Running servers notice at once.`,
  operands: [{ syntax: '<NAME>', description: 'the collection' }],
  settings: ['store', 'private', 'public', 'retention', 'retentionBytes', 'detach', 'json'],
  examples: [
    { line: 'reams set events --private', purpose: 'hide it from readers' },
    { line: 'reams set events --public', purpose: 'show it again' },
    { line: 'reams set events --retention 7d', purpose: 'keep history for a week' },
    { line: 'reams set events --retention 0', purpose: 'keep no history' },
    { line: 'reams set events --detach', purpose: 'end a mirror' },
  ],
  run: runSet,
}

const NAMES = ['private', 'public', 'retention', 'retentionBytes', 'detach'] as const

async function runSet([name = '']: readonly string[], settings: SettingValues): Promise<undefined> {
  const { isPrivate, isDetached, ...retention } = wishesOf(settings)
  const isRetention = Object.keys(retention).length > 0
  await withStore(settings.get('store'), {}, async (store) => {
    const before = await existingHead(store, name)
    if (isRetention && !before.isPaginated)
      throw new Failure(1, `${name} is unpaginated, and has no history: it is read as a whole. Nothing was set.`)
    const said: string[] = []
    if (isPrivate !== undefined) {
      if (before.isPrivate !== isPrivate) await store.setPrivate(name, isPrivate)
      said.push(`${before.isPrivate === isPrivate ? 'already' : 'now'} ${isPrivate ? 'private' : 'public'}`)
    }
    if (isDetached) {
      if (before.origin !== null) await detach(store, name)
      said.push(before.origin === null ? 'already no mirror' : 'no mirror any more')
    }
    if (isRetention) said.push(formatRetention(await store.setRetention(name, retention)))
    await report(settings, factsOf(await existingHead(store, name)), `${name}: ${said.join('; ')}.`)
  })
}

/** The current values of all settings that `reams set` can change, named as in `reams collections`. */
function factsOf({ name, isPrivate, retentionMs, retentionBytes, origin }: Head) {
  const retention = { retention_ms: retentionMs, retention_bytes: retentionBytes }
  return { collection: name, private: isPrivate, ...retention, mirrors: origin?.url ?? null }
}

async function detach(store: Store, name: string): Promise<void> {
  await store.detach(name)
  await store.noteFollowing(name, null)
}

/** A flag wins over all variables, so that REAMS_PRIVATE, meant for imports, does not get in the way of --public. */
function wishesOf(settings: SettingValues) {
  const origin = NAMES.some((name) => settings.origin(name) === 'flag') ? 'flag' : 'environment'
  const asked = <N extends (typeof NAMES)[number]>(name: N) =>
    settings.origin(name) === origin ? settings.get(name) : undefined
  const [isPrivate, isPublic] = [asked('private') === true, asked('public') === true]
  if (isPrivate && isPublic) throw new Failure(2, 'Expected only one of --private and --public.')
  const [retentionMs, retentionBytes] = [asked('retention'), asked('retentionBytes')]
  const wishes = {
    ...((isPrivate || isPublic) && { isPrivate }),
    ...(asked('detach') === true && { isDetached: true }),
    ...(retentionMs !== undefined && { retentionMs }),
    ...(retentionBytes !== undefined && { retentionBytes }),
  }
  if (Object.keys(wishes).length === 0)
    throw new Failure(2, 'Expected what to set: --private or --public, --retention or --retention-bytes, or --detach.')
  return wishes
}
