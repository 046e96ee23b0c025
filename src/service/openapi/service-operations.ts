/** The operations of the service itself. */

import { collectionUrl, descriptionUrl, entryUrl, problemUrl } from '../../contract/link.ts'
import { PROBLEMS } from '../../contract/problem.ts'
import { answer, browsed, hal, json, kept, seen } from './answers.ts'
import { KEPT } from './headers.ts'
import type { Operation } from './operation.ts'
import { example, type Part, schema } from './part.ts'

export const READ_ENTRY: Operation = {
  name: 'readEntry',
  summary: 'The entry point: every collection, linked and counted',
  description: 'Private collections are listed to a token that may read them.',
  isBrowsed: true,
  parameters: ['known'],
  answers: (place) => {
    const content = hal(schema('Entry'), example('entry', entryExample(place.baseUrl)))
    return browsed(place, seen(place, 'The entry point.', content, ...KEPT))
  },
}

function entryExample(baseUrl: string): Part {
  const self = { href: collectionUrl(baseUrl, 'events') }
  return {
    _links: {
      self: { href: entryUrl(baseUrl) },
      'service-desc': { href: descriptionUrl(baseUrl) },
      collections: [{ ...self, name: 'events' }],
    },
    _embedded: {
      collections: [
        {
          name: 'events',
          item_count: 502,
          paginated: true,
          private: false,
          key: 'id',
          changed_at: '2026-11-15T09:30:00.000Z',
          _links: { self },
        },
      ],
    },
  }
}

export const READ_HEALTH: Operation = {
  name: 'readHealth',
  summary: 'Whether the store can be read now',
  answers: () => ({
    '200': answer('It can.', json(schema('Health'), example('ok', { status: 'ok' })), 'Cache-Control'),
  }),
}

export const READ_DESCRIPTION: Operation = {
  name: 'readDescription',
  summary: 'This description',
  description: 'Private collections are described to a token that may read them.',
  parameters: ['known'],
  answers: () =>
    kept(
      answer(
        'OpenAPI 3.1.',
        json(schema('Description'), example('short', { openapi: '3.1.0', info: { title: 'Reams' }, paths: {} })),
        ...KEPT,
      ),
    ),
}

export const READ_PROBLEM: Operation = {
  name: 'readProblem',
  summary: 'What a problem means',
  parameters: ['problem', 'known'],
  answers: ({ baseUrl }) =>
    kept(answer('The problem.', json(schema('ProblemKind'), problemKindExample(baseUrl)), ...KEPT)),
  problems: ['path-not-found'],
}

function problemKindExample(baseUrl: string): Part {
  return example('invalid-page', { type: problemUrl(baseUrl, 'invalid-page'), ...PROBLEMS['invalid-page'] })
}
