/** What `import … from 'reams/client'` gives: a client for every server with the contract, in Node.js, Bun, Deno and browsers. */

export * from './client-error.ts'
export { type ClientOptions, DEFAULT_RETRY, type Retry, type RetryPolicy } from './client-options.ts'
export type * from './collection.ts'
export { type Client, createClient, openCollection } from './create-client.ts'
export type { Links } from './envelope.ts'
export type { Page } from './page.ts'
export type { Anchor, Drift, Step, WalkState } from './walk.ts'
