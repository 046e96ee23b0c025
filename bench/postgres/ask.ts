/** Questions about PostgreSQL and Citus: asked where there is one. */

import type { Figure, Question, Skipped } from '../question.ts'
import type { Workspace } from '../workspace.ts'
import type { PostgresWorkspace } from './workspace.ts'

export interface PostgresQuestion extends Omit<Question, 'run'> {
  run(postgres: PostgresWorkspace, workspace: Workspace): Promise<Figure[] | Skipped>
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

/** What is measured on both: Citus and PostgreSQL without it. */
export interface BothEngines {
  readonly citus: PostgresWorkspace
  readonly plain: PostgresWorkspace
}

export interface CitusQuestion extends Omit<Question, 'run'> {
  run(engines: BothEngines, workspace: Workspace): Promise<Figure[] | Skipped>
}

export function askCitus(question: CitusQuestion): Question {
  return {
    ...question,
    needs: ['citus', 'postgres', ...question.needs],
    async run(workspace): Promise<Figure[] | Skipped> {
      const citus = await workspace.citus()
      if ('skipped' in citus) return citus
      const plain = await workspace.postgres()
      return 'skipped' in plain ? plain : question.run({ citus, plain }, workspace)
    },
  }
}
