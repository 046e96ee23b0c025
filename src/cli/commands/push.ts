/** `reams push URL FILE|-`: appends the items of a file to a collection of any server, over HTTP. */

import { FILE_SETTINGS } from '../input.ts'
import type { CliCommand } from '../setting-values.ts'

export const PUSH: CliCommand = {
  name: 'push',
  group: 'Load and change',
  usage: 'URL FILE|- [options]',
  summary: 'send a file to a collection over HTTP',
  description: `Appends the items of a file to a collection, over HTTP, in batches. Lost
batches are retried, and nothing is appended twice: the server recognises each
batch by the file, its position there and its items. So after a crash run the
same command again, within 24 hours; later the whole file would be appended
once more. REAMS_TOKEN can hold the token. The collection must exist, unless
--create is given: then --key, --unpaginated and --private say how to create it.`,
  operands: [
    { syntax: '<URL>', description: 'the collection' },
    { syntax: '<FILE>', description: '.ndjson, .jsonl, .json, .csv, .tsv or gzip; - is stdin', suggestions: 'files' },
  ],
  settings: [
    ...FILE_SETTINGS,
    'itemBytes',
    'tokenFile',
    'ca',
    'pushCreate',
    'key',
    'unpaginated',
    'private',
    'batch',
    'retries',
    'pushTimeout',
    'json',
  ],
  examples: [
    { line: 'reams push https://x.example/events new.ndjson', purpose: 'append a file' },
    { line: 'reams push https://x.example/new new.csv --create --key id', purpose: 'create' },
    { line: 'zcat *.gz | reams push https://x.example/events -', purpose: 'from a pipe' },
  ],
  run: async ([url = '', file = ''], settings) => {
    // Here and not above, so that other commands start without the client.
    const { runPush } = await import('./push/run.ts')
    return runPush(url, file, settings)
  },
}
