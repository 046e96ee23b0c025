/** The description of the service as an OpenAPI 3.1 document: all that this instance serves, for one caller. */

import { PAGE_SIZE } from '../../contract/page.ts'
import { TOKEN_PREFIX } from '../../contract/token.ts'
import { figure } from '../figure.ts'
import type { Limits } from '../limits.ts'
import { BROWSED_ANSWERS, SHARED_ANSWERS } from './answers.ts'
import { collectionSchemas, type Described } from './envelope-schema.ts'
import { HEADERS, SAFE } from './headers.ts'
import { PARAMETERS } from './parameters.ts'
import type { Part } from './part.ts'
import { ANY_TAG, Paths, SERVICE_TAG } from './paths.ts'
import { ProblemResponses } from './problem-responses.ts'
import { readAnswers } from './read-answers.ts'
import { sharedSchemas } from './schemas.ts'
import { WRITE_ANSWERS } from './write-answers.ts'

export interface Instance {
  readonly baseUrl: string
  readonly requiresToken: boolean
  readonly hasExplorer: boolean
  readonly limits: Limits
  /** Those that the caller may read, and that have paths of their own. */
  readonly collections: readonly Described[]
  /** How many more there are. */
  readonly others: number
}

/** Collections with paths of their own, so that the document stays of a size that tools can take. */
export const MOST_DESCRIBED = 50

/** Of what is described, not of the program: goes up when something is taken away, or means something else (D21). */
const VERSION = '1.0.0'

export function describeService(instance: Instance): Part {
  const { baseUrl, limits, collections } = instance
  const problems = new ProblemResponses(baseUrl)
  const paths = new Paths(instance, problems)
  const described = Object.assign({}, paths.service, ...collections.map((each) => paths.of(each)), paths.any)
  return {
    openapi: '3.1.0',
    info: { title: 'Reams', version: VERSION, description: introductionTo(instance) },
    servers: [{ url: baseUrl }],
    tags: tagsOf(collections),
    paths: described,
    components: {
      securitySchemes: { token: TOKEN },
      schemas: Object.assign(sharedSchemas(baseUrl, limits), ...collections.map(collectionSchemas)),
      parameters: PARAMETERS,
      headers: headersFor(instance),
      examples: problems.components.examples,
      responses: { ...answersFor(instance), ...problems.components.responses },
    },
  }
}

function headersFor({ hasExplorer }: Instance): Part {
  if (hasExplorer) return HEADERS
  const isOfHtml = (name: string) => SAFE.some((each) => each === name)
  return Object.fromEntries(Object.entries(HEADERS).filter(([name]) => !isOfHtml(name)))
}

function answersFor(instance: Instance): Part {
  const read = [...instance.collections, undefined].map((collection) => readAnswers({ ...instance, collection }))
  return Object.assign({ ...SHARED_ANSWERS, ...(instance.hasExplorer && BROWSED_ANSWERS), ...WRITE_ANSWERS }, ...read)
}

const TOKEN = {
  type: 'http',
  scheme: 'bearer',
  bearerFormat: `${TOKEN_PREFIX}…`,
  description:
    'A token of this service. What an operation asks for is a scope: `read:`, `write:` (includes reading) or `create:` (includes writing), with the name of a collection or `*`; `admin` is everything.',
}

function introductionTo({ collections, others, limits }: Instance): string {
  const { bodyBytes, itemBytes, requestItems } = limits
  const paragraphs = [
    `Collections, ${PAGE_SIZE} items a page, with an exact count. Query parameters that are not described are ignored.`,
    `A request has at most ${figure(bodyBytes)} bytes, packed and unpacked, and ${figure(requestItems)} items of at most ${figure(itemBytes)} bytes.`,
  ]
  if (others > 0)
    paragraphs.push(
      `The first ${collections.length} collections have paths of their own here; for the other ${figure(others)} the paths with {collection} stand.`,
    )
  return paragraphs.join('\n\n')
}

function tagsOf(collections: readonly Described[]): readonly Part[] {
  return [
    { name: SERVICE_TAG, description: 'The entry point, the health of the service, its description and its problems.' },
    ...collections.map(({ name, isPaginated, isPrivate }) => ({
      name,
      description: `A ${isPrivate ? 'private ' : ''}collection ${isPaginated ? 'in pages' : 'that answers whole'}.`,
    })),
    { name: ANY_TAG, description: 'Whichever collection the path names, also one that is yet to be made.' },
  ]
}
