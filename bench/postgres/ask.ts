/** A question about PostgreSQL: asked where there is one. */

import type { Figure, Question, Skipped } from '../question.ts'
import type { Workspace } from '../workspace.ts'
import type { PostgresWorkspace } from './workspace.ts'

export interface PostgresQuestion extends Omit<Question, 'run'> {
  run(postgres: PostgresWorkspace, workspace: Workspace): Promise<Figure[]>
}

export function askPostgres(question: PostgresQuestion): Question {
  return {
    ...question,
    needs: ['postgres', ...question.needs],
    async run(workspace): Promise<Figure[] | Skipped> {
      const postgres = await workspace.postgres()
      return 'skipped' in postgres ? postgres : question.run(postgres, workspace)
    },
  }
}
