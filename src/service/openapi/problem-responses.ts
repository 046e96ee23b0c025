/** The answers to what goes wrong: for each status the problems that an operation can have, described once for all operations. */

import { problemUrl } from '../../contract/link.ts'
import { PROBLEMS, type ProblemName } from '../../contract/problem.ts'
import { HTML } from './answers.ts'
import { HEADERS as ALL_HEADERS, SAFE } from './headers.ts'
import { type Part, reference, schema } from './part.ts'
import { problemExample } from './problem-example.ts'

/** What a status has besides the headers of every problem. */
const HEADERS: Readonly<Record<number, readonly string[]>> = {
  401: ['WWW-Authenticate'],
  415: ['Accept-Encoding'],
  503: ['Retry-After'],
}

/** A page in HTML has these too; a problem as JSON has not. */
const OF_HTML = { Vary: { ...ALL_HEADERS.Vary, required: false } }

export class ProblemResponses {
  readonly #baseUrl: string
  readonly #responses = new Map<string, Part>()
  readonly #examples = new Map<string, Part>()
  /** What was used before: with many collections the same is asked for again and again. */
  readonly #byStatus = new Map<string, Part>()

  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl
  }

  /** The responses by status. Those of one status share a description, whichever operation has them. */
  use(names: readonly ProblemName[], hasHtml: boolean): Part {
    const key = [hasHtml, ...names].join()
    const known = this.#byStatus.get(key)
    if (known !== undefined) return known
    const responses = this.#group(names, hasHtml)
    this.#byStatus.set(key, responses)
    return responses
  }

  #group(names: readonly ProblemName[], hasHtml: boolean): Part {
    const byStatus = Object.groupBy(names, (name) => PROBLEMS[name].status)
    return Object.fromEntries(
      Object.entries(byStatus).map(([status, same = []]) => [status, this.#responseOf(Number(status), same, hasHtml)]),
    )
  }

  /** All that were used, for the components. */
  get components(): Record<'responses' | 'examples', Part> {
    return { responses: Object.fromEntries(this.#responses), examples: Object.fromEntries(this.#examples) }
  }

  #responseOf(status: number, names: readonly ProblemName[], hasHtml: boolean): Part {
    const key = [...names, ...(hasHtml ? ['html'] : [])].join('.')
    if (!this.#responses.has(key)) this.#responses.set(key, this.#describe(status, names, hasHtml))
    return reference('responses', key)
  }

  #describe(status: number, names: readonly ProblemName[], hasHtml: boolean): Part {
    const ofHtml = hasHtml ? [...SAFE, 'Content-Encoding'] : []
    const headers = ['Cache-Control', 'X-Content-Type-Options', ...(HEADERS[status] ?? []), ...ofHtml]
    return {
      description: names
        .map((name) => `**${name}**: ${PROBLEMS[name].title}. ${PROBLEMS[name].description}`)
        .join('\n\n'),
      headers: {
        ...Object.fromEntries(headers.map((header) => [header, reference('headers', header)])),
        ...(hasHtml && OF_HTML),
      },
      content: {
        'application/problem+json': {
          schema: { allOf: [schema('Problem'), { type: 'object', properties: { type: this.#typeOf(names) } }] },
          examples: Object.fromEntries(names.map((name) => [name, this.#exampleOf(name)])),
        },
        ...(hasHtml && HTML),
      },
    }
  }

  #typeOf(names: readonly ProblemName[]): Part {
    return { type: 'string', enum: names.map((name) => problemUrl(this.#baseUrl, name)) }
  }

  #exampleOf(name: ProblemName): Part {
    const { title, hint } = PROBLEMS[name]
    this.#examples.set(name, { summary: title, description: hint, value: problemExample(this.#baseUrl, name) })
    return reference('examples', name)
  }
}
