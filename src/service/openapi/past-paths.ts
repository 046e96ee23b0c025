/** The paths of snapshots and of changes in the OpenAPI document: those of any collection, since all have the same (D22, D23). */

import { changesLinks, changesPath, pageLinks, snapshotLinks, snapshotPath } from '../../contract/link.ts'
import type { ProblemName } from '../../contract/problem.ts'
import { type Instance, PAGE_HEADERS, type Part, schema } from './components.ts'
import { answer, asData, EXAMPLE_STATE, hal, type Operation, type Responses, response } from './operation.ts'

const PROBLEMS_OF_STATES: readonly ProblemName[] = [
  'invalid-page',
  'collection-not-found',
  'state-not-found',
  'state-expired',
]

/** Adds the answers that the paths refer to to `responses`. */
export function pastPaths({ baseUrl, hasExplorer }: Instance, responses: Responses) {
  const name = 'events'
  const before = { ...EXAMPLE_STATE, version: 3, changes: 502 }
  const atPath = snapshotPath(name, before)
  const snapshot = {
    item_count: 502,
    _links: { ...pageLinks(baseUrl, atPath, 2, 502), ...snapshotLinks(baseUrl, name, before) },
    _embedded: { [name]: [{ id: 501 }, { id: 502 }] },
  }
  const since = {
    item_count: 2,
    _links: { ...pageLinks(baseUrl, changesPath(name, before), 1, 2), ...changesLinks(baseUrl, name, EXAMPLE_STATE) },
    _embedded: {
      [name]: [
        { op: 'put', key: '503', version: 4, item: { id: 503 } },
        { op: 'delete', key: '7', version: 4 },
      ],
    },
  }
  const snapshotAnswer = (hasHtml: boolean): Part =>
    answer('A page of the snapshot.', PAGE_HEADERS, hal(schema('Snapshot'), { snapshot }), hasHtml)
  const changesAnswer = (hasHtml: boolean): Part =>
    answer(
      'A page of the changes.',
      [...PAGE_HEADERS, 'Preference-Applied'],
      hal(schema('Changes'), { since }),
      hasHtml,
    )
  Object.assign(responses, { snapshot: snapshotAnswer(hasExplorer), changes: changesAnswer(hasExplorer) })
  const readSnapshot: Operation = {
    operationId: 'readSnapshot',
    summary: 'Read a collection as it was in one state',
    description:
      'A live page links it. Whatever is written meanwhile, its pages stay as they are, for as long as the history of the collection is kept.',
    parameters: ['page', 'known', 'encoding'],
    hasHtml: hasExplorer,
    responses: { '200': response('snapshot') },
    problems: PROBLEMS_OF_STATES,
  }
  const readChanges: Operation = {
    operationId: 'readChanges',
    summary: 'Read everything that has changed since a state',
    description:
      'A snapshot links it. The oldest change comes first; the last page links the snapshot that they lead to.',
    parameters: ['page', 'known', 'prefer', 'encoding'],
    hasHtml: hasExplorer,
    responses: { '200': response('changes') },
    problems: PROBLEMS_OF_STATES,
  }
  return {
    '/{collection}@{tag}': { get: readSnapshot },
    '/{collection}@{tag}..': { get: readChanges },
    '/-/json/{collection}@{tag}': { get: asData(readSnapshot, snapshotAnswer(false)) },
    '/-/json/{collection}@{tag}..': { get: asData(readChanges, changesAnswer(false)) },
  }
}
