/** `reams serve`: puts files, the sample or a store on a port until a signal comes. */

import type { CliCommand } from './command.ts'

export const SERVE: CliCommand = {
  name: 'serve',
  group: 'Serve',
  usage: '[FILE…] [options]',
  summary: 'serve files or a store over HTTP',
  description: `Serves files, or the collections of a store, over HTTP until Ctrl-C.
Files are served from a temporary store that is removed at the end: one
collection a file, named after it. Without files it serves the store.`,
  operands: [{ syntax: '[FILE...]', description: '.ndjson, .jsonl, .json or .csv, also gzip' }],
  examples: [
    { line: 'reams serve events.ndjson venues.csv.gz', purpose: 'two collections' },
    { line: 'reams serve --store my.db --port 9000', purpose: 'a store' },
    { line: 'reams serve --store postgres://me@host/db --create', purpose: 'a database' },
    { line: 'reams serve --host 0.0.0.0 --base-url https://x.example', purpose: 'for others' },
  ],
  run: async (files, settings) => {
    // Here and not above, so that other commands start without the service.
    const { runServe } = await import('./serve/run.ts')
    return runServe(files, settings)
  },
}
