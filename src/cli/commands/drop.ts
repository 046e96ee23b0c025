/** `reams drop NAME`: removes a collection and all its items. */

import { counted } from '../../contract/message-text.ts'
import { confirm } from '../confirm.ts'
import { Failure } from '../failure.ts'
import { existingHead, withStore } from '../open-store.ts'
import { report } from '../output.ts'
import type { CliCommand, SettingValues } from '../setting-values.ts'

export const DROP: CliCommand = {
  name: 'drop',
  group: 'Load and change',
  usage: 'NAME [options]',
  summary: 'remove a collection and its items',
  description: 'Removes a collection and all its items, at once. It asks first; without a terminal it needs --yes.',
  operands: [{ syntax: '<NAME>', description: 'the collection' }],
  settings: ['store', 'yes', 'json'],
  examples: [
    { line: 'reams drop events', purpose: 'remove events from reams.db' },
    { line: 'reams drop events --yes', purpose: 'in a script' },
  ],
  run: runDrop,
}

async function runDrop([name = '']: readonly string[], settings: SettingValues): Promise<undefined> {
  await withStore(settings.get('store'), {}, async (store) => {
    const head = await existingHead(store, name)
    const what = `"${name}" with ${counted(head.live, 'item')}`
    if (!settings.get('yes')) {
      if (!process.stdin.isTTY)
        throw new Failure(2, `Without a terminal to ask on, nothing is dropped. Add --yes to drop ${what}.`)
      await confirm({
        question: `Drop ${what}?`,
        unseen: 'The question whether to drop it could not be seen. Add --yes to drop it.',
        refused: 'Nothing was dropped.',
      })
    }
    await store.drop(name)
    const facts = { collection: name, items: head.live }
    await report(settings, facts, `${name}: dropped, with ${counted(head.live, 'item')}.`)
  })
}
