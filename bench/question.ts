/** What a question of the bench is, and what it answers. */

import type { ArtifactName, Workspace } from './workspace.ts'

export interface Question {
  /** As the command line names it. */
  readonly name: string
  /** What it needs from the workspace, and how long its own measuring takes: for the estimate in advance. */
  readonly needs: readonly ArtifactName[]
  readonly cost: Cost
  run(workspace: Workspace): Promise<Figure[] | Skipped>
}

/** How long something takes on a machine with two cores. */
export interface Cost {
  readonly seconds: number
  /** On top of that, for each million items. */
  readonly secondsAMillion: number
}

/** A question that cannot be asked on this machine. */
export interface Skipped {
  /** Why. */
  readonly skipped: string
}

/** One line of the report. */
export interface Figure {
  /** What was measured, in words. */
  readonly measured: string
  readonly value: number
  /** What follows the value; nothing where it is a ratio. */
  readonly unit?: string
  /** Undefined where the value is only reported. */
  readonly required?: Requirement
  /** Which way is good, where nothing is required that says so. */
  readonly better?: Direction
  /** Everything that went into the value, both sides of a ratio. */
  readonly raw: Readonly<Record<string, unknown>>
  /** What one has to know to understand the value; stands below the table. */
  readonly note?: string
}

export type Direction = 'lower' | 'higher'

export type Requirement = { readonly atMost: number } | { readonly atLeast: number }

export function isReached(value: number, required: Requirement): boolean {
  return 'atMost' in required ? value <= required.atMost : value >= required.atLeast
}

/** Undefined where neither is good. */
export function directionOf({ required, better }: Pick<Figure, 'required' | 'better'>): Direction | undefined {
  if (required === undefined) return better
  return 'atMost' in required ? 'lower' : 'higher'
}
