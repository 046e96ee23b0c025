/** Looks at real answers: each has to be described, and what was seen of an operation can be asked for later. */

import type { ProblemJson } from '../open-service.ts'
import type { Answer } from '../write-server.ts'
import { type Described, Description, type Part } from './description.ts'

export class Witness {
  readonly description: Description
  /** `readCollection 200`, `readCollection invalid-page`. */
  readonly seen = new Set<string>()
  readonly problems: ProblemJson[] = []

  constructor(text: string) {
    this.description = new Description(text)
  }

  /** Fails unless the answer is described. */
  see(method: string, target: string, answer: Described): void {
    this.description.assertDescribes(method, target, answer)
    const id = baseId(this.description.operationOf(method, target))
    if (answer.status < 400) this.seen.add(`${id} ${answer.status}`)
    else if (answer.text !== '') this.#seeProblem(id, JSON.parse(answer.text))
  }

  /** What the description says that can be seen. */
  get described(): Set<string> {
    const all = this.description.operations.flatMap(({ operation }) => {
      const done = Object.keys(operation['responses'] as Part).filter((status) => Number(status) < 400)
      return [...done, ...this.description.problemsOf(operation)].map((what) => `${baseId(operation)} ${what}`)
    })
    return new Set(all)
  }

  #seeProblem(id: string, problem: ProblemJson): void {
    this.problems.push(problem)
    this.seen.add(`${id} ${problem.type.split('/').at(-1)}`)
  }
}

/** The same for `readCollection` and for `events.readCollection`. */
function baseId(operation: Part): string {
  return String(operation['operationId']).replace(/^.*\./, '')
}

export function describedOf({ status, headers, text }: Answer): Described {
  return { status, text, headers: new Map(Object.entries(headers).map(([name, value]) => [name, String(value)])) }
}

/** The same from the bytes of one answer, whether it has a body or not. */
export function describedIn(bytes: Buffer): Described {
  const [head = '', ...body] = bytes.toString().split('\r\n\r\n')
  const [line = '', ...lines] = head.split('\r\n')
  const headers = new Map(
    lines.map((each) => [each.split(':', 1)[0]?.toLowerCase() ?? '', each.replace(/^[^:]*: */, '')]),
  )
  return { status: Number(line.split(' ')[1]), headers, text: body.join('\r\n\r\n') }
}
