/** What a request can say in its path, its query and its headers. `Authorization` stands with the security, `Accept` with the bodies. */

import { NAME_PATTERN } from '../../contract/name.ts'
import { PROBLEMS } from '../../contract/problem.ts'
import type { Part } from './part.ts'

const text = { type: 'string' } as const

function header(name: string, description: string, example: string, schema: Part = text): Part {
  return { name, in: 'header', description, schema, example }
}

function inPath(name: string, description: string, example: string, schema: Part): Part {
  return { name, in: 'path', required: true, description, schema, example }
}

export const PARAMETERS = {
  page: {
    name: 'page',
    in: 'query',
    description:
      'The number of the page. One beyond the last page is answered with the last page. An empty value means page 1; a number can have any length.',
    schema: { type: 'integer', minimum: 1, default: 1 },
    example: 2,
  },
  collection: inPath('collection', 'The name of a collection.', 'events', { ...text, pattern: NAME_PATTERN }),
  key: inPath('key', 'The key of an item, percent-encoded.', '7', { ...text, minLength: 1 }),
  problem: inPath('problem', 'The name of a problem.', 'invalid-page', { ...text, enum: Object.keys(PROBLEMS) }),
  known: header('If-None-Match', 'Entity tags that the client has, or `*`: 304 if one is the current one.', '"x"'),
  encoding: header('Accept-Encoding', 'A page is sent as gzip to a client that takes it.', 'gzip'),
  match: header('If-Match', 'Entity tags of the item, or `*`: 412 unless it has one of them.', '*'),
  noneMatch: header('If-None-Match', 'Entity tags, or `*` for any: 412 if the item has one of them.', '*'),
  isNew: header('If-None-Match', '`*`: 412 if there is a collection of that name already.', '*', {
    ...text,
    enum: ['*'],
  }),
  isSeen: {
    ...header(
      'If-Match',
      'The ETag of a page of the collection as it is now, or `*`: 428 without, 412 for another.',
      '*',
    ),
    required: true,
  },
  idempotencyKey: header(
    'Idempotency-Key',
    'A name for this request, a UUID for instance. Sent again with it, within 24 hours and while the collection is not dropped, it is answered as the first time, and writes nothing.',
    'a7c1f0de-5a0e-4f52-9c3b-0d6a2f1c4b11',
    { ...text, minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
  ),
  packed: header('Content-Encoding', 'How the body is packed.', 'gzip', {
    ...text,
    enum: ['gzip', 'x-gzip', 'identity'],
  }),
} as const satisfies Readonly<Record<string, Part>>

export type ParameterName = keyof typeof PARAMETERS
