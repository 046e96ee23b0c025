/** The contract as code: pure, no I/O, runs in a browser. */

export * from './change.ts'
export * from './envelope.ts'
export * from './etag.ts'
export * from './key.ts'
export * from './link.ts'
export * from './name.ts'
export * from './page.ts'
export * from './problem.ts'
export * from './scope.ts'
export * from './state-tag.ts'
