/** A request that is refused: thrown anywhere on its way, answered as a problem. */

import type { ProblemName } from '../contract/problem.ts'
import type { ProblemOptions } from './problem-response.ts'

export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly problem: ProblemName
  readonly options: ProblemOptions

  constructor(problem: ProblemName, detail: string, options: ProblemOptions = {}) {
    super(detail)
    this.problem = problem
    this.options = options
  }
}
