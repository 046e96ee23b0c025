/** `reams mirror URL`: keeps a copy of a collection, until a signal comes. */

import type { CliCommand } from '../setting-values.ts'

export const MIRROR: CliCommand = {
  name: 'mirror',
  group: 'Load and change',
  usage: 'URL [options]',
  summary: 'keep a copy of a collection elsewhere',
  description: `Copies a collection from its server, and then applies what changes there,
until Ctrl-C. The copy shows states that the original had, in their order,
never a mix. It goes on where it was after an interruption, can be served,
and can be mirrored itself. Creates the store and the collection if missing.
REAMS_TOKEN can hold a token.`,
  operands: [{ syntax: '<URL>', description: 'the collection' }],
  settings: [
    'store',
    'mirrorName',
    'key',
    'mirrorEvery',
    'once',
    'maxItems',
    'maxBytes',
    'itemBytes',
    'tokenFile',
    'ca',
    'allowOrigin',
    'pullTimeout',
    'answerBytes',
    'logLevel',
    'json',
  ],
  examples: [
    { line: 'reams mirror https://x.example/events', purpose: 'into reams.db' },
    { line: 'reams mirror https://x.example/events --once', purpose: 'catch up, and end' },
    { line: 'reams set events --detach', purpose: 'make it an ordinary collection' },
  ],
  run: async ([url = ''], settings) => {
    // Here and not above, so that other commands start without the client.
    const { runMirror } = await import('./mirror/run.ts')
    return runMirror(url, settings)
  },
}
