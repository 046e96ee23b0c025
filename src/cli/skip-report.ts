/** `--report FILE`: the items that an import skipped, a JSON object on each line. */

import type { InputBatch } from '../items/item-reader.ts'
import { splitItems } from '../store/item-text.ts'
import { Failure } from './failure.ts'
import { type OutputTarget, outputTarget } from './files/output-target.ts'
import type { Input } from './input.ts'
import type { SettingValues } from './setting-values.ts'

/** Undefined without a report. `REAMS_REPORT` has no effect on imports that skip nothing; the flag is an error there. */
export async function reportTarget(settings: SettingValues): Promise<OutputTarget | undefined> {
  const name = settings.get('report')
  const isSkipping = settings.get('onConflict') === 'skip'
  if (name === undefined || (!isSkipping && settings.origin('report') === 'environment')) return undefined
  if (!isSkipping)
    throw new Failure(
      2,
      '--report lists the items that --on-conflict skip leaves out: add that, or leave out --report.',
    )
  const target = await outputTarget(name)
  if (!target.isFile) throw new Failure(2, `${name} is not a file, and the report needs one.`)
  if (target.isThere) throw new Failure(2, `${target.path} already exists. Name another file for the report.`)
  return target
}

/** The items of a batch with these indexes; `before` items come before the batch. */
export function reportLines({ run, lines }: InputBatch, skipped: readonly number[], { unit }: Input, before: number) {
  const items = skipped.length === 0 ? [] : splitItems(run.text)
  const entries = skipped.map((index) => {
    const number = unit === 'line' ? `,"number":${before + index + 1}` : ''
    return `{"${unit}":${lines[index]}${number},"key":${JSON.stringify(run.keys?.[index])},"item":${items[index]}}\n`
  })
  return new TextEncoder().encode(entries.join(''))
}
