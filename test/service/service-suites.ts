/** The suites of the service that run on every engine, with the checker and the client on top of it. */

import { runWhole } from './whole.ts'

const SUITES = [
  ...['access-matrix', 'base-url', 'broken-bodies', 'composite-keys', 'history', 'large-bodies', 'page-cache'],
  ...['page-cuts', 'patch', 'paths', 'reads', 'repeated-writes', 'waiting', 'writes', 'wrong-targets', 'wrong-writes'],
  ...['../check/own-service', '../client/collection'],
].map((name) => `${name}.test.ts`)

/** For the engine that `onEngine` was told. To be called once in a process, within a `describe`. */
export function importServiceSuites(): Promise<void> {
  return runWhole(...SUITES)
}
