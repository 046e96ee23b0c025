/** How long a run will take, known before it begins. */

import type { Cost, Question } from './question.ts'
import { ARTIFACTS } from './workspace.ts'

export function estimateMs(questions: readonly Question[], items: number): number {
  const needs = new Set(questions.flatMap((question) => question.needs))
  const costs: Cost[] = [...questions.map(({ cost }) => cost), ...[...needs].map((name) => ARTIFACTS[name])]
  const seconds = costs.reduce((sum, cost) => sum + cost.seconds + cost.secondsAMillion * (items / 1e6), 0)
  return seconds * 1000
}
