/** `reams unfollow --from DATABASE --table TABLE`: removes from a database all that followers of a table have installed there. */

import { counted } from '../../contract/message-text.ts'
import { Failure } from '../failure.ts'
import { Interruption } from '../interruption.ts'
import { printNote, report, reportPart } from '../output.ts'
import type { CliCommand, SettingValues } from '../setting-values.ts'
import { FOLLOWED_DATABASE, followedDatabase } from './follow.ts'

export const UNFOLLOW: CliCommand = {
  name: 'unfollow',
  group: 'Load and change',
  usage: '--from DATABASE --table TABLE [options]',
  summary: 'remove from a database what follow installed',
  description: `Removes the triggers and queues of all followers of a table from its database.
Those that are running end. The collections stay as they are.`,
  operands: [],
  settings: ['tableFrom', 'table', 'schema', 'json'],
  descriptions: { tableFrom: FOLLOWED_DATABASE },
  examples: [{ line: 'reams unfollow --from postgres:///shop --table events', purpose: 'the table is free again' }],
  run: runUnfollow,
}

async function runUnfollow(_operands: readonly string[], settings: SettingValues): Promise<undefined> {
  const { unfollow } = await import('../../follow/unfollow.ts')
  const url = followedDatabase(settings).reveal()
  const tables = settings.get('table') ?? []
  if (tables.length === 0) throw new Failure(2, 'Name a table with --table.')
  using interruption = new Interruption()
  const facts: { table: string; removed: number }[] = []
  for (const table of tables) {
    const onWait = () => printNote(`${table} is locked by somebody; trying again.`)
    const removed = await unfollow({ url, table, schema: settings.get('schema'), signal: interruption.signal, onWait })
    facts.push({ table, removed })
    const result = removed === 0 ? 'nobody follows it.' : `${counted(removed, 'follower')} removed.`
    await reportPart(settings, `${table}: ${result}`)
  }
  await report(settings, { tables: facts }, undefined)
}
