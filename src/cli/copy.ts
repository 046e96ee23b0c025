/** `reams copy --from STORE --to STORE`: moves collections between stores, as they are, and checks what arrived. */

import type { CliCommand } from './command.ts'

export const COPY: CliCommand = {
  name: 'copy',
  group: 'Load and change',
  usage: '--from STORE --to STORE [options]',
  summary: 'copy collections to another store',
  description: `Copies collections to another store, file or database, with settings, keys and
positions. Each is read back and compared, by count and SHA-256, before anybody
sees it. After a stop the same command goes on. Makes the store if missing.`,
  operands: [],
  examples: [
    { line: 'reams copy --from my.db --to postgres://me@db/app', purpose: 'grow up' },
    { line: 'reams copy --from my.db --to new.db --collection a', purpose: 'only a' },
    { line: 'reams copy --from my.db --to new.db --replace', purpose: 'swap what differs' },
  ],
  run: async (_operands, settings) => {
    const { runCopy } = await import('./copy/run.ts')
    return runCopy(settings)
  },
}
