/** `reams set NAME --private|--public`: changes who can read a collection. */

import { Failure } from '../failure.ts'
import { existingHead, withStore } from '../open-store.ts'
import { print } from '../output.ts'
import type { CliCommand, SettingValues } from '../setting-values.ts'

export const SET: CliCommand = {
  name: 'set',
  group: 'Load and change',
  usage: 'NAME --private|--public [options]',
  summary: 'make a collection private or public',
  description: 'Makes a collection private or public. Running servers notice at once.',
  operands: [{ syntax: '<NAME>', description: 'the collection' }],
  settings: ['store', 'private', 'public'],
  examples: [
    { line: 'reams set events --private', purpose: 'hide it from readers' },
    { line: 'reams set events --public', purpose: 'show it again' },
  ],
  run: runSet,
}

async function runSet([name = '']: readonly string[], settings: SettingValues): Promise<undefined> {
  const isPrivate = wantsPrivate(settings)
  await withStore(settings.get('store'), {}, async (store) => {
    const before = await existingHead(store, name)
    if (before.isPrivate !== isPrivate) await store.setPrivate(name, isPrivate)
    const state = isPrivate ? 'private' : 'public'
    await print(`${name}: ${before.isPrivate === isPrivate ? 'already' : 'now'} ${state}.`)
  })
}

/** A flag wins over both variables, so that REAMS_PRIVATE, meant for imports, does not get in the way of --public. */
function wantsPrivate(settings: SettingValues): boolean {
  const origin = [settings.origin('private'), settings.origin('public')].includes('flag') ? 'flag' : 'environment'
  const isAsked = (name: 'private' | 'public') => settings.origin(name) === origin && settings.get(name)
  if (isAsked('private') === isAsked('public')) throw new Failure(2, 'Expected exactly one of --private and --public.')
  return isAsked('private')
}
