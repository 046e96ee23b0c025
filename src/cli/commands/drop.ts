/** `reams drop NAME`: removes a collection and all its items. */

import { createInterface } from 'node:readline/promises'
import { counted } from '../../contract/message-text.ts'
import { Failure } from '../failure.ts'
import { existingHead, withStore } from '../open-store.ts'
import { print } from '../output.ts'
import type { CliCommand, SettingValues } from '../setting-values.ts'

export const DROP: CliCommand = {
  name: 'drop',
  group: 'Load and change',
  usage: 'NAME [options]',
  summary: 'remove a collection and its items',
  description: 'Removes a collection and all its items, at once. On a terminal it asks first.',
  operands: [{ syntax: '<NAME>', description: 'the collection' }],
  settings: ['store', 'yes'],
  examples: [{ line: 'reams drop events', purpose: 'remove events from reams.db' }],
  run: runDrop,
}

async function runDrop([name = '']: readonly string[], settings: SettingValues): Promise<undefined> {
  await withStore(settings.get('store'), {}, async (store) => {
    const head = await existingHead(store, name)
    if (!settings.get('yes') && process.stdin.isTTY) await confirm(name, head.live)
    await store.drop(name)
    await print(`${name}: dropped, with ${counted(head.live, 'item')}.`)
  })
}

/** Throws a Failure unless the answer is yes. */
async function confirm(name: string, items: number): Promise<void> {
  const output = [process.stderr, process.stdout].find(({ isTTY }) => isTTY)
  if (output === undefined)
    throw new Failure(2, 'The question whether to drop it could not be seen. Add --yes to drop it.')
  const terminal = createInterface({ input: process.stdin, output })
  const closed = new Promise<string>((resolve) => terminal.once('close', () => resolve('')))
  const answer = await Promise.race([
    terminal.question(`Drop "${name}" with ${counted(items, 'item')}? [y/N] `),
    closed,
  ])
  terminal.close()
  if (!/^y(es)?$/i.test(answer.trim())) throw new Failure(1, 'Nothing was dropped.')
}
