/** The suites of the service that run on every engine, with the checker and the client on top of it. */

const SUITES = [
  './access-matrix.test.ts',
  './base-url.test.ts',
  './broken-bodies.test.ts',
  './composite-keys.test.ts',
  './history.test.ts',
  './large-bodies.test.ts',
  './page-cache.test.ts',
  './page-cuts.test.ts',
  './patch.test.ts',
  './paths.test.ts',
  './reads.test.ts',
  './repeated-writes.test.ts',
  './waiting.test.ts',
  './writes.test.ts',
  './wrong-targets.test.ts',
  './wrong-writes.test.ts',
  '../check/own-service.test.ts',
  '../client/collection.test.ts',
]

/** For the engine that `onEngine` was told. To be called once in a process, within a `describe`. */
export async function importServiceSuites(): Promise<void> {
  for (const suite of SUITES) await import(suite)
}
