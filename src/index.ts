/** What `import … from 'reams'` gives: the service, a way to put it on a port, and the types of a store. */

export { createService, type Service, type ServiceOptions } from './service/create-service.ts'
export type { Incoming, RequestSource } from './service/incoming.ts'
export { DEFAULT_LIMITS, type Limits } from './service/limits.ts'
export { type Listening, type ListenOptions, listen, type ServerLoad, type TlsPair } from './service/node/listen.ts'
export type {
  CreateRateCounter,
  LimiterOptions,
  RateCounter,
  RateLimit,
  RateLimits,
  RateName,
  RateUse,
} from './service/rate-limit.ts'
export type { Reply } from './service/reply.ts'
export type { OnError, RequestFacts, RequestRecord } from './service/request-record.ts'
export type { StoreActivity } from './store/activity.ts'
export type { Following, NamedFollowing } from './store/following.ts'
export type * from './store/store.ts'
