/** `reams check URL`: tests a server against the rules of the contract, and prints a report. */

import type { CliCommand } from '../setting-values.ts'

export const CHECK: CliCommand = {
  name: 'check',
  group: 'Look and check',
  usage: 'URL [options]',
  summary: 'check that a server keeps the contract',
  description: `Checks whether a server, written in any language, keeps the contract.
It sends only GET, HEAD and OPTIONS. A broken C rule fails the check; a broken
D rule, which fills a gap in the contract, gives a warning. Exit status:
0 passed, 1 failed, 2 wrong usage, 3 undecided. REAMS_TOKEN can hold a token.`,
  operands: [{ syntax: '[URL]', description: 'a collection, an entry point or a base URL' }],
  settings: [
    'collection',
    'baseUrl',
    'tokenFile',
    'ca',
    'walk',
    'strict',
    'explain',
    'concurrency',
    'delay',
    'timeout',
    'timeLimit',
    'answerBytes',
    'reportFormat',
    'json',
  ],
  examples: [
    { line: 'reams check https://x.example/events', purpose: 'a collection' },
    { line: 'reams check https://x.example', purpose: 'all that the entry point links to' },
    { line: 'reams check https://x.example/events --walk', purpose: 'every page of it' },
    { line: 'reams check --explain C7', purpose: 'explain a rule' },
  ],
  run: async (operands, settings) => {
    // Here and not above, so that other commands start without the checker.
    const { runCheck } = await import('./check/run.ts')
    return runCheck(operands, settings)
  },
}
