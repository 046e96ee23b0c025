/** How fast does a table of PostgreSQL come here, next to psql writing it to a file; and what do its pages gain by that? */

import { stat } from 'node:fs/promises'
import { PAGE_SIZE } from '../../src/contract/page.ts'
import { type Program, REAMS, runProgram, startServer, WITHOUT_CACHE } from '../child-process.ts'
import { removeDatabase } from '../database-file.ts'
import { type ImportRun, importRun } from '../import-run.ts'
import { compareLatencies, pageOf } from '../latency.ts'
import { inTurn, median } from '../measure.ts'
import { memoryFigures } from '../memory.ts'
import { FULL_ITEMS } from '../options.ts'
import { PageClient } from '../page-client.ts'
import { askPostgres } from '../postgres/ask.ts'
import { findPsql } from '../postgres/copy.ts'
import { makeEventTable } from '../postgres/event-table.ts'
import { pagesByHand } from '../postgres/pages-by-hand.ts'
import type { PostgresWorkspace } from '../postgres/workspace.ts'
import type { Figure } from '../question.ts'
import { COLLECTION, type Workspace } from '../workspace.ts'

export const TABLE_IMPORT = askPostgres({
  name: 'table-import',
  needs: [],
  cost: { seconds: 5, secondsAMillion: 25 },
  async run(postgres, workspace) {
    if ((await findPsql()) === undefined) return { skipped: 'it needs psql' }
    const table = await makeEventTable(postgres, 'table', workspace.items)
    const copies: number[] = []
    const plain: ImportRun[] = []
    const keyed: ImportRun[] = []
    await inTurn(workspace.rounds, ['plain', 'copy', 'keyed'] as const, async (side, round) => {
      if (side === 'copy') copies.push(await copyToFile(postgres, table, workspace))
      else if (side === 'plain')
        plain.push(await importTable(postgres, workspace, ['--query', `SELECT * FROM ${table}`], round))
      else keyed.push(await importTable(postgres, workspace, ['--table', table], round))
    })
    const rate = ({ wallMs }: { readonly wallMs: number }) => (workspace.items / wallMs) * 1000
    const copied = copies.map((wallMs) => rate({ wallMs }))
    return [
      {
        measured:
          'rows/s of reams import --from postgres://…, without a key ÷ of psql \\copy (SELECT row_to_json…) TO a file',
        value: median(plain.map(rate)) / median(copied),
        ...(workspace.items >= FULL_ITEMS ? { required: { atLeast: 0.7 } } : { better: 'higher' }),
        raw: { rowsASecond: plain.map(rate), copiedASecond: copied },
      },
      {
        measured: 'the same with a key',
        value: median(keyed.map(rate)) / median(copied),
        better: 'higher',
        raw: { rowsASecond: keyed.map(rate), copiedASecond: copied },
      },
      ...memoryFigures('reams import --from postgres://…', plain[0]?.memory ?? [], 250),
      ...(await comparePages(postgres, workspace, table)),
    ]
  },
})

async function copyToFile(postgres: PostgresWorkspace, table: string, workspace: Workspace): Promise<number> {
  workspace.step('psql writes the table to a file')
  const file = workspace.path('table.ndjson')
  const psql: Program = ['psql', '--no-psqlrc', '--quiet', '--set', 'ON_ERROR_STOP=1', '--dbname', postgres.url]
  const copy = `\\copy (SELECT row_to_json(e) FROM ${table} e) TO '${file}'`
  const { wallMs } = await runProgram(psql, ['--command', copy], workspace.signal)
  if ((await stat(file)).size === 0) throw new Error('psql wrote nothing.')
  await removeDatabase(file)
  return wallMs
}

/** The first round makes the stores whose pages are measured. */
async function importTable(
  postgres: PostgresWorkspace,
  workspace: Workspace,
  flags: readonly string[],
  round: number,
): Promise<ImportRun> {
  workspace.step(['reams import --from postgres://…', flags[0]].join(' '))
  const path = workspace.path(`table${flags[0]}.db`)
  if (round > 0) await removeDatabase(path)
  const words = ['import', COLLECTION, '--from', postgres.url, ...flags, '--store', path]
  return importRun(path, workspace.items, await runProgram(REAMS, words, workspace.signal))
}

async function comparePages(postgres: PostgresWorkspace, workspace: Workspace, table: string): Promise<Figure[]> {
  const lastPage = Math.floor(workspace.items / PAGE_SIZE)
  const words = ['serve', '--store', workspace.path('table--table.db'), '--port', '0', ...WITHOUT_CACHE]
  await using server = await startServer(REAMS, words, workspace.signal)
  using client = new PageClient(server.url)
  workspace.step('table-import: first and last page of Reams')
  const { first, last } = await compareLatencies(
    { first: pageOf(client, COLLECTION, 1), last: pageOf(client, COLLECTION, lastPage) },
    { requests: Math.ceil(workspace.requests / 4), signal: workspace.signal },
  )
  workspace.step('table-import: COUNT(*) and OFFSET on the table')
  const ofTable = await pagesByHand(postgres, table, 'e.*')
  return [
    figure('first', await ofTable(1), first.p50Ms, 500, workspace),
    figure('last', await ofTable(lastPage), last.p50Ms, 3_000, workspace),
  ]
}

function figure(which: string, tableMs: number[], p50Ms: number, times: number, { items }: Workspace): Figure {
  return {
    measured: `${which} page with COUNT(*) and OFFSET on the table itself ÷ ours, gzip through HTTP, uncached, p50`,
    value: median(tableMs) / p50Ms,
    better: 'higher',
    ...(items >= FULL_ITEMS && { required: { atLeast: times } }),
    raw: { tableMs, p50Ms },
  }
}
