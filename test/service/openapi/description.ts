/** The description as a test reads it: which operation a request is, whether it describes an answer, and what was seen of it. */

import assert from 'node:assert/strict'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type { ProblemJson } from '../open-service.ts'

export interface Part {
  readonly [name: string]: unknown
}

export interface Described {
  readonly status: number
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>
  readonly text: string
}

/** What any answer over HTTP/1.1 can have, or what OpenAPI describes elsewhere. */
const OF_THE_TRANSPORT = ['date', 'connection', 'keep-alive', 'content-type', 'content-length', 'transfer-encoding']

/** What a parameter in a path can be, where others must not be taken for it. */
const PATTERNS: Readonly<Record<string, string>> = { collection: '[^/@]+', tag: '[^/.]+' }

export class Description {
  readonly document: Part
  /** `readCollection 200`, `readCollection invalid-page`: the same for a collection with paths of its own. */
  readonly seen = new Set<string>()
  readonly problems: ProblemJson[] = []
  readonly #ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    formats: { uri: (text: string) => URL.canParse(text) },
  })
  /** To compile a schema takes much longer than to apply it. */
  readonly #validators = new Map<Part, ValidateFunction>()

  constructor(text: string) {
    this.document = JSON.parse(text)
    this.#ajv.addSchema(this.document, 'description')
  }

  get paths(): string[] {
    return Object.keys(partIn(this.document, 'paths'))
  }

  /** Every operation, with the path and the method that it stands under. */
  get operations(): { path: string; method: string; operation: Part }[] {
    return Object.entries(partIn(this.document, 'paths')).flatMap(([path, item]) =>
      Object.entries(item as Part)
        .filter(([method]) => method !== 'parameters')
        .map(([method, operation]) => ({ path, method, operation: operation as Part })),
    )
  }

  /** The path that a request is for: one without parameters comes before one with some. */
  pathOf(target: string): string | undefined {
    const [path = ''] = target.split('?', 1)
    const matching = this.paths.filter((each) =>
      new RegExp(`^${each.replaceAll('.', '\\.').replace(/\{(\w+)\}/g, (_, name) => PATTERNS[name] ?? '[^/]+')}$`).test(
        path,
      ),
    )
    return matching.toSorted((one, other) => one.split('{').length - other.split('{').length)[0]
  }

  operationOf(method: string, target: string): Part {
    const item = partIn(partIn(this.document, 'paths'), this.pathOf(target) ?? '')
    return partIn(item, method.toLowerCase())
  }

  /** The names of the problems that an operation can have, by its responses. */
  problemsOf(operation: Part): string[] {
    return Object.values(partIn(operation, 'responses')).flatMap((response) => {
      const content = this.#resolved(response as Part)['content'] as Part | undefined
      const problem = content?.['application/problem+json'] as Part | undefined
      return Object.keys((problem?.['examples'] as Part | undefined) ?? {})
    })
  }

  /** Notes an answer. Fails unless it is one that is described for that request. */
  see(method: string, target: string, answer: Described): void {
    this.assertDescribes(method, target, answer)
    const id = baseId(this.operationOf(method, target))
    if (answer.status < 400) this.seen.add(`${id} ${answer.status}`)
    if (answer.status < 400 || answer.text === '') return
    const problem: ProblemJson = JSON.parse(answer.text)
    this.problems.push(problem)
    this.seen.add(`${id} ${problem.type.split('/').at(-1)}`)
  }

  /** What there is to be seen. */
  get described(): Set<string> {
    const all = this.operations.flatMap(({ operation }) => {
      const done = Object.keys(partIn(operation, 'responses')).filter((status) => Number(status) < 400)
      return [...done, ...this.problemsOf(operation)].map((what) => `${baseId(operation)} ${what}`)
    })
    return new Set(all)
  }

  /** Fails unless the answer is one that is described for that request. */
  assertDescribes(method: string, target: string, { status, headers, text }: Described): void {
    const what = `${method} ${target}: ${status} ${text.slice(0, 200)}`
    const operation = this.operationOf(method, target)
    const given = partIn(operation, 'responses')[status]
    assert.ok(given !== undefined, `${what} is not described`)
    const response = this.#resolved(given as Part)
    this.#assertHeaders((response['headers'] ?? {}) as Part, headers, what)
    const content = (response['content'] ?? {}) as Part
    const [type] = headers.get('content-type')?.split(';') ?? []
    assert.equal(type === undefined, Object.keys(content).length === 0, what)
    if (type === undefined) return
    assert.ok(content[type] !== undefined, `${what}: ${type} is not described`)
    const body = type === 'text/html' ? text : text && JSON.parse(text)
    if (text !== '' || method !== 'HEAD') this.assertValid(partIn(partIn(content, type), 'schema'), body, what)
  }

  assertValid(schema: Part, value: unknown, what: string): void {
    const validate = this.#validators.get(schema) ?? this.#ajv.compile({ allOf: [withBase(schema)] })
    this.#validators.set(schema, validate)
    assert.ok(validate(value), `${what}: ${this.#ajv.errorsText(validate.errors)}`)
  }

  #assertHeaders(described: Part, headers: ReadonlyMap<string, string>, what: string): void {
    const names = Object.keys(described).map((name) => name.toLowerCase())
    const own = [...headers.keys()].filter((name) => !OF_THE_TRANSPORT.includes(name))
    assert.deepEqual(
      own.filter((name) => !names.includes(name)),
      [],
      `${what}: headers that are not described`,
    )
    for (const [name, given] of Object.entries(described)) {
      const header = this.#resolved(given as Part)
      const value = headers.get(name.toLowerCase())
      assert.ok(value !== undefined || header['required'] !== true, `${what}: there is no ${name}`)
      const schema = header['schema'] as Part
      const typed = schema['type'] === 'integer' ? Number(value) : value
      if (value !== undefined) this.assertValid(schema, typed, `${what}: ${name}`)
    }
  }

  /** What a reference leads to, if it is one. */
  #resolved(part: Part): Part {
    const reference = part['$ref']
    if (typeof reference !== 'string') return part
    return reference
      .split('/')
      .slice(1)
      .reduce((found, name) => partIn(found, name), this.document)
  }
}

/** A member that has to be there. */
export function partIn(part: Part, name: string): Part {
  const found = part[name]
  assert.ok(typeof found === 'object' && found !== null, `there is no ${name}`)
  return found as Part
}

/** The same for `readCollection` and for `events.readCollection`. */
function baseId(operation: Part): string {
  return String(operation['operationId']).replace(/^.*\./, '')
}

/** The same schema, with references that lead into the description from anywhere. */
function withBase(schema: Part): Part {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"description#/'))
}
