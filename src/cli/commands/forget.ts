/** `reams forget NAME`: drops the history of a collection. */

import { counted } from '../../contract/message-text.ts'
import { existingHead, withStore } from '../open-store.ts'
import { report } from '../output.ts'
import type { CliCommand, SettingValues } from '../setting-values.ts'

export const FORGET: CliCommand = {
  name: 'forget',
  group: 'Load and change',
  usage: 'NAME [options]',
  summary: 'drop the history of a collection',
  description: `Drops all earlier states of a collection at once: what was deleted or replaced
cannot be read any more. Whoever reads such a state is told to begin again. The
items that the collection has stay, and history begins anew.`,
  operands: [{ syntax: '<NAME>', description: 'the collection' }],
  settings: ['store', 'json'],
  examples: [{ line: 'reams forget events', purpose: 'forget what events had' }],
  run: runForget,
}

async function runForget([name = '']: readonly string[], settings: SettingValues): Promise<undefined> {
  await withStore(settings.get('store'), {}, async (store) => {
    await existingHead(store, name)
    const { live } = await store.forget(name)
    const sentence = `${name}: its history was dropped. It has ${counted(live, 'item')}, as before.`
    await report(settings, { collection: name, items: live }, sentence)
  })
}
