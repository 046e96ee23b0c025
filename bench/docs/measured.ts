/** What the documentation shows of a run, taken out of its figures. Undefined stands for what that run did not measure. */

import { counted } from '../../src/contract/message-text.ts'
import { median } from '../measure.ts'
import type { AtSize } from '../questions/growth.ts'
import type { AtDepth } from '../questions/hand-written.ts'
import type { ReadRate } from '../read-load.ts'
import type { RecordedFigure, RecordedRun } from '../recorded-run.ts'

/** The figure of a question whose description holds these words. */
export function figureOf(run: RecordedRun, question: string, words: string): RecordedFigure | undefined {
  const { figures = [] } = run.answers.find((answer) => answer.question === question) ?? {}
  return figures.find(({ measured }) => measured.includes(words))
}

/** The cast: the question itself wrote it so. */
function rawOf<Raw>(run: RecordedRun, question: string, words: string): Partial<Raw> {
  return (figureOf(run, question, words)?.raw ?? {}) as Partial<Raw>
}

export function depthsOf(run: RecordedRun): readonly AtDepth[] {
  return (
    rawOf<{ depths: AtDepth[] }>(run, 'hand-written', 'last page of the hand-written server ÷ ours, gzip').depths ?? []
  )
}

export function sizesOf(run: RecordedRun): readonly AtSize[] {
  return rawOf<{ sizes: AtSize[] }>(run, 'growth', 'last page').sizes ?? []
}

/** Of one of the sides of a comparison under load. */
export function rateOf(run: RecordedRun, question: string, words: string, side: string): ReadRate | undefined {
  return rawOf<Record<string, ReadRate>>(run, question, words)[side]
}

export function bytesOf(run: RecordedRun) {
  type Bytes = {
    storeBytes: number
    gzipBytes: number
    rowBytes: number
    ndjsonBytes: number
    ndjsonBytesAnItem: number
  }
  return rawOf<Bytes>(run, 'bytes', 'bytes of the store')
}

/** Numbers that a question wrote: one, or those of all rounds. */
export function medianOf(run: RecordedRun, question: string, words: string, name: string): number | undefined {
  const value = rawOf<Record<string, number | number[]>>(run, question, words)[name]
  return Array.isArray(value) ? median(value) : value
}

/** Every server that was put under load with a page, group by group; those that were not measured are left out. */
export function rateGroups(run: RecordedRun): RateGroup[] {
  const hot = (form: string, side: string) => rateOf(run, 'hot-page', `hot page, ${form}: requests/s ÷ bare`, side)
  const cold = (form: string) => rateOf(run, 'cold-pages', `cold random pages, ${form}`, 'cold')
  const nginx = rateOf(run, 'hot-page', '÷ nginx', 'nginx')
  const groups = [
    group('a page of 500 items, plain', [
      ['nginx, the page as a file', nginx],
      ['bare node:http, from memory', hot('plain', 'bare')],
      ['Reams, the same page', hot('plain', 'ours'), true],
      ['Reams, random pages, no cache', cold('plain'), true],
    ]),
    group('a page of 500 items, gzip', [
      ['bare node:http, from memory', hot('gzip', 'bare')],
      ['Reams, the same page', hot('gzip', 'ours'), true],
      ['Reams, random pages, no cache', cold('gzip'), true],
    ]),
  ]
  return groups.filter(({ rates }) => rates.length > 0)
}

/** The same for the servers that one would use instead. */
export function rivalGroups(run: RecordedRun): RateGroup[] {
  const few = medianOf(run, 'json-server', 'first page of', 'items') ?? 0
  const groups = (['first', 'last'] as const).flatMap((which) => [
    group(`${which} page of ${counted(run.items, 'item')}, gzip`, [
      ['written by hand', rateOf(run, 'hand-written', `${which} page: requests/s`, 'handWritten')],
      ['Reams, no cache', rateOf(run, 'hand-written', `${which} page: requests/s`, 'reams'), true],
    ]),
    group(`${which} page of ${counted(few, 'item')}, gzip`, [
      ['json-server', rateOf(run, 'json-server', `${which} page of`, 'jsonServer')],
      ['Reams, no cache', rateOf(run, 'json-server', `${which} page of`, 'reams'), true],
    ]),
  ])
  return groups.filter(({ rates }) => rates.length > 0)
}

export interface RateGroup {
  readonly title: string
  readonly rates: readonly { readonly name: string; readonly isOurs: boolean; readonly rate: ReadRate }[]
}

type Side = readonly [name: string, rate: ReadRate | undefined, isOurs?: boolean]

function group(title: string, sides: readonly Side[]): RateGroup {
  return { title, rates: sides.flatMap(([name, rate, isOurs = false]) => (rate ? [{ name, isOurs, rate }] : [])) }
}
