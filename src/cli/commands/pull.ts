/** `reams pull URL`: downloads a whole collection, from any server with the contract. */

import type { CliCommand } from '../setting-values.ts'

export const PULL: CliCommand = {
  name: 'pull',
  group: 'Look and check',
  usage: 'URL [-o FILE] [options]',
  summary: 'download a whole collection over HTTP',
  description: `Downloads all items of a collection, in order, from any server that keeps the
contract, and verifies that none is missing: as many are written as the server
counts. Where the server links a snapshot, that is what is read, so changes in
the meantime do not matter. Until it is complete the file is FILE.part; --resume
continues an interrupted pull. REAMS_TOKEN can hold a token.`,
  operands: [{ syntax: '<URL>', description: 'the collection' }],
  settings: [
    'format',
    'columns',
    'noSnapshot',
    'tokenFile',
    'ca',
    'allowOrigin',
    'concurrency',
    'retries',
    'pullTimeout',
    'answerBytes',
    'output',
    'force',
    'resume',
    'quiet',
    'json',
  ],
  examples: [
    { line: 'reams pull https://x.example/events -o events.ndjson', purpose: 'to a file' },
    { line: 'reams pull https://x.example/events -o events.csv.gz', purpose: 'as CSV' },
    { line: 'reams pull https://x.example/events | head', purpose: 'to stdout' },
  ],
  run: async ([url = ''], settings) => {
    // Here and not above, so that other commands start without the client.
    const { runPull } = await import('./pull/run.ts')
    return runPull(url, settings)
  },
}
