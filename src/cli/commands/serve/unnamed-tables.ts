/** `serve --from DATABASE` without a table or a query: shows the command for each table, and serves nothing. */

import { counted, makeVisible } from '../../../contract/message-text.ts'
import { listTables } from '../../../tables/open-table.ts'
import { Failure } from '../../failure.ts'
import { print, printError } from '../../output.ts'
import type { SettingValues } from '../../setting-values.ts'
import { shellWord } from '../../shell-word.ts'

export async function refuseUnnamedTables(settings: SettingValues, signal: AbortSignal): Promise<void> {
  const database = settings.get('tableFrom')
  if (database === undefined || settings.isGiven('table') || settings.isGiven('query')) return
  const names = await listTables(database, signal)
  if (names.length === 0)
    throw new Failure(2, `There are no tables in ${database} that can be read. A query needs none: --query SELECT….`)
  const commands = names.map((name) => `reams serve --from ${database.word} --table ${shellWord(name)}`)
  // The list has many lines and a message has one. With --json, stdout is only for the result.
  const isJson = settings.get('json')
  if (isJson) for (const command of commands) printError(command)
  else await print(commands.map(makeVisible).join('\n'))
  const password = database.hasPassword ? ' They leave out the password.' : ''
  throw new Failure(
    2,
    `Say what to serve from ${database}: --table NAME, once or more, or --query SELECT…. The commands for its ${counted(names.length, 'table')} are on ${isJson ? 'stderr' : 'stdout'}.${password}`,
  )
}
