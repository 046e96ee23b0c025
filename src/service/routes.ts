/** Every path that the service answers, with its methods. HEAD, OPTIONS and 405 follow from this table (D13). */

import { type Browse, browseCollection, browseEntry, browseItem, browsePast, getAsset } from './browse.ts'
import type { Handler } from './handler-context.ts'
import { getOpenapi } from './openapi/describe-service.ts'
import { getCollection } from './read/get-collection.ts'
import { getEntry, getHealth, getProblem } from './read/get-entry.ts'
import { getItem } from './read/get-item.ts'
import { getPast, getPastItem } from './read/get-past.ts'
import {
  deleteCollection,
  deleteItem,
  patchCollection,
  postCollection,
  putCollection,
  putItem,
} from './write/write-collection.ts'

export interface Route {
  readonly path: string
  /** Shows no data, so it is open to everybody even where tokens are required. Default false. */
  readonly isOpen?: true
  /** Answered however often it is asked for: a monitor must not take a limit for an outage, a page needs its style. Default false. */
  readonly isUnlimited?: true
  readonly methods: Readonly<Record<string, Handler>>
  /** What makes a page for a browser that navigates here, instead of GET (D12). */
  readonly browse?: Browse
}

/** A collection, but no state of it. */
const COLLECTION = ':collection{[^-/][^/@]*}'

/** The busiest come first. Paths that begin with a dash are the service's own (D18): no collection's path does. */
export const ROUTES: readonly Route[] = [
  {
    path: `/${COLLECTION}`,
    methods: {
      GET: getCollection,
      POST: postCollection,
      PATCH: patchCollection,
      PUT: putCollection,
      DELETE: deleteCollection,
    },
    browse: browseCollection,
  },
  {
    path: `/${COLLECTION}/:key`,
    methods: { GET: getItem, PUT: putItem, DELETE: deleteItem },
    browse: browseItem,
  },
  // In this order: a tag can be anything, so that what is none gets a problem that says so.
  { path: `/${COLLECTION}@:tag{[^/]*}..`, methods: { GET: getPast }, browse: browsePast },
  { path: `/${COLLECTION}@:tag{[^/]*}`, methods: { GET: getPast }, browse: browsePast },
  { path: `/${COLLECTION}@:tag{[^/]*}/:key`, methods: { GET: getPastItem }, browse: getPastItem },
  { path: '/', methods: { GET: getEntry }, browse: browseEntry },
  { path: '/-/health', isOpen: true, isUnlimited: true, methods: { GET: getHealth } },
  { path: '/-/openapi.json', methods: { GET: getOpenapi } },
  { path: '/-/problems/:problem', isOpen: true, methods: { GET: getProblem } },
  { path: '/-/explorer/:file', isOpen: true, isUnlimited: true, methods: { GET: getAsset } },
  // The same data for a browser, whose headers cannot say that it does not want HTML.
  { path: `/-/json/${COLLECTION}`, methods: { GET: withoutPrefix('/-/json', getCollection) } },
  { path: `/-/json/${COLLECTION}@:tag{[^/]*}..`, methods: { GET: withoutPrefix('/-/json', getPast) } },
  { path: `/-/json/${COLLECTION}@:tag{[^/]*}`, methods: { GET: withoutPrefix('/-/json', getPast) } },
  { path: `/-/json/${COLLECTION}@:tag{[^/]*}/:key`, methods: { GET: withoutPrefix('/-/json', getPastItem) } },
  { path: `/-/json/${COLLECTION}/:key`, methods: { GET: withoutPrefix('/-/json', getItem) } },
]

function withoutPrefix(prefix: string, handler: Handler): Handler {
  return (context) => handler({ ...context, path: context.path.slice(prefix.length) })
}

const PATTERNS = ROUTES.map((route) => ({ route, pattern: patternOf(route.path) }))

const NAMES = new Map(ROUTES.map((route) => [route.path, route.path.replace(/\{.*?\}/g, '')]))

/** As logs and metrics name it: `/:collection/:key`. */
export function routeName(route: Route | undefined): string {
  return (route && NAMES.get(route.path)) ?? 'unknown'
}

/** Undefined where there is nothing. */
export function findRoute(path: string): Route | undefined {
  return PATTERNS.find(({ pattern }) => pattern.test(path))?.route
}

/** A name after a colon matches one segment of the path, or the pattern in braces after it. A dot is a dot. */
function patternOf(path: string): RegExp {
  const rules = path.replace(/\.|:\w+(?:\{(.*?)\})?/g, (part, rule: string | undefined) =>
    part === '.' ? '\\.' : (rule ?? '[^/]+'),
  )
  return new RegExp(`^${rules}$`)
}
