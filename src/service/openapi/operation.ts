/** One operation: what it takes, what it answers when all goes well, and which problems it can have. */

import type { ProblemName } from '../../contract/problem.ts'
import type { ParameterName } from './parameters.ts'
import { type Part, reference } from './part.ts'
import { type Need, nameIn, nameOf, type Place, securityOf } from './place.ts'
import type { ProblemResponses } from './problem-responses.ts'

export interface Operation {
  readonly name: string
  /** `*` stands for the collection. */
  readonly summary: string
  readonly description?: string
  /** A browser that navigates gets HTML, also if something is wrong, where there is an explorer. Default false. */
  readonly isBrowsed?: boolean
  /** Default: to read. */
  readonly needs?: Need
  readonly parameters?: readonly ParameterName[]
  readonly body?: (place: Place) => Part
  /** By status. */
  readonly answers: (place: Place) => Readonly<Record<string, Part>>
  /** Besides those that everything has. */
  readonly problems?: readonly ProblemName[]
}

/** What can happen to any request. */
const EVERYWHERE: readonly ProblemName[] = [
  'malformed-request',
  'unauthorized',
  'request-timeout',
  'misdirected-request',
  'header-too-large',
  'internal-error',
  'store-unavailable',
]

const IN_A_BROWSER = 'To a browser the answer is a page in HTML.'

export function describeOperation(operation: Operation, place: Place, tag: string, problems: ProblemResponses): Part {
  const { name, summary, needs = 'read', body, answers } = operation
  const hasHtml = operation.isBrowsed === true && place.hasExplorer
  const description = [operation.description, ...(hasHtml ? [IN_A_BROWSER] : [])].filter(Boolean).join(' ')
  const parameters = (operation.parameters ?? []).filter((each) => hasPages(place) || each !== 'page')
  const own = (operation.problems ?? []).filter((problem) => isPossible(problem, place))
  return {
    operationId: nameOf(place, name),
    summary: summary.replace('*', nameIn(place)),
    ...(description !== '' && { description }),
    tags: [tag],
    security: securityOf(place, needs),
    ...(parameters.length > 0 && { parameters: parameters.map((each) => reference('parameters', each)) }),
    ...(body !== undefined && { requestBody: { required: true, content: body(place) } }),
    responses: { ...answers(place), ...problems.use([...EVERYWHERE, ...own], hasHtml) },
  }
}

/** Of a collection that is known, its name is right, and whether it has pages is known too. */
function isPossible(problem: ProblemName, place: Place): boolean {
  if (problem === 'invalid-name') return place.collection === undefined
  return problem !== 'invalid-page' || hasPages(place)
}

function hasPages({ collection }: Place): boolean {
  return collection?.isPaginated !== false
}
