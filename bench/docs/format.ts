/** Figures as the documentation writes them. */

import { formatCount } from '../../src/contract/message-text.ts'
import type { RecordedRun } from '../recorded-run.ts'

/** `0.50 ms`, `9.1 ms`, `948 ms`. */
export function formatMs(ms: number): string {
  return `${significant(ms)} ms`
}

/** `1.0`, `20`, `1,240`: two or three digits say all. */
export function significant(value: number): string {
  if (value >= 1000) return formatCount(Number(value.toPrecision(3)))
  if (value >= 10) return value.toFixed(0)
  return value >= 1 ? value.toFixed(1) : value.toPrecision(2)
}

export function formatRate(requestsASecond: number): string {
  return `${significant(requestsASecond)}/s`
}

/** The machine, the date and the command, in a line. */
export function conditionsOf({ cpu, cores, node, date, command }: RecordedRun): string {
  return `${cpu}, ${cores} cores, Node ${node} · ${date.slice(0, 10)} · ${command}`
}
