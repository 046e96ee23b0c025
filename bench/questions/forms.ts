/** How soon is the executable there, and how fast are the same hot pages on Node and on Bun, beside nginx? */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buildExecutable } from '../../scripts/build-executable.ts'
import { type Program, REAMS, runProgram, startServer } from '../child-process.ts'
import { eventTexts } from '../data.ts'
import { inTurn, median } from '../measure.ts'
import { CAN_MEASURE_NGINX, startNginx } from '../nginx-server.ts'
import type { Figure, Question } from '../question.ts'
import { LOAD_TOOL } from '../read-load.ts'
import { compareRates } from '../read-rates.ts'
import { COLLECTION, type Workspace } from '../workspace.ts'

const ROOT = join(import.meta.dirname, '../..')
const ON_BUN: Program = [join(ROOT, 'node_modules/.bin/bun'), join(ROOT, 'src/cli/main.ts')]

/** Of a process that is over in a moment. */
const STARTS = 15

/** Of a file that somebody might try first. */
const FIRST_ITEMS = 10_000

const LEAST = { identity: 0.35, gzip: 0.3 } as const

export const FORMS: Question = {
  name: 'forms',
  needs: ['sample'],
  cost: { seconds: 180, secondsAMillion: 0 },
  async run(workspace) {
    workspace.step('forms: building the executable')
    const executable: Program = [await buildExecutable(workspace.path('executable'))]
    return [
      await compareStarts(workspace, executable),
      await firstPage(workspace, executable),
      ...(await besideNginx(workspace)),
    ]
  },
}

async function compareStarts(workspace: Workspace, executable: Program): Promise<Figure> {
  workspace.step('forms: --version of the executable and of the clone in turn')
  const times = { executable: [] as number[], clone: [] as number[] }
  const programs = { executable, clone: REAMS }
  await inTurn(workspace.isTryOut ? 1 : STARTS, ['executable', 'clone'] as const, async (side) => {
    times[side].push((await runProgram(programs[side], ['--version'], workspace.signal)).wallMs)
  })
  return {
    measured: 'start of the executable ÷ of the clone, --version',
    value: median(times.executable) / median(times.clone),
    required: { atMost: 1.5 },
    raw: { executableMs: times.executable, cloneMs: times.clone },
  }
}

async function firstPage(workspace: Workspace, executable: Program): Promise<Figure> {
  workspace.step('forms: from the start of the executable with a file to its first page')
  const file = workspace.path('first.ndjson')
  await writeFile(file, `${eventTexts(FIRST_ITEMS).join('\n')}\n`)
  const times: number[] = []
  await inTurn(workspace.rounds, [executable], async (program) => {
    const startedAt = performance.now()
    await using server = await startServer(program, ['serve', file, '--port', '0'], workspace.signal)
    await (await fetch(`${server.url}/first?page=1`)).arrayBuffer()
    times.push(performance.now() - startedAt)
  })
  return {
    measured: `from nothing to the first page: the executable serves a file of ${FIRST_ITEMS.toLocaleString('en-US')} items`,
    value: median(times),
    unit: 'ms',
    required: { atMost: 2000 },
    raw: { times },
  }
}

async function besideNginx(workspace: Workspace): Promise<Figure[]> {
  if (!CAN_MEASURE_NGINX) {
    workspace.step('forms: nothing beside nginx, which takes nginx and wrk')
    return []
  }
  const path = await workspace.storeOf(Math.min(workspace.items, 100_000), 'forms.db')
  const figures: Figure[] = []
  for (const encoding of ['identity', 'gzip'] as const) {
    workspace.step(`forms: hot pages of Node, of Bun and of nginx in turn, ${encoding}`)
    const headers = { 'Accept-Encoding': encoding }
    await using servers = new AsyncDisposableStack()
    const node = servers.use(await workspace.serve(path))
    const bun = servers.use(await workspace.serve(path, [], ON_BUN))
    const page = (url: string) => ({ url: `${url}/${COLLECTION}?page=1`, headers })
    const nginx = servers.use(await startNginx(workspace, await bytesOf(page(node.url).url), encoding))
    const rates = await compareRates(workspace, {
      node: page(node.url),
      bun: page(bun.url),
      nginx: { url: `${nginx.url}/page`, headers },
    })
    const what = `hot page, ${encoding === 'gzip' ? 'gzip' : 'plain'}, one process`
    const raw = { ...rates, tool: LOAD_TOOL }
    const share = (side: 'node' | 'bun') => rates[side].requestsASecond / rates.nginx.requestsASecond
    figures.push(
      {
        measured: `${what}: requests/s on Bun ÷ nginx with the same bytes as a file`,
        value: share('bun'),
        required: { atLeast: LEAST[encoding] },
        raw,
      },
      { measured: `${what}: the same on Node`, value: share('node'), better: 'higher', raw },
    )
  }
  return figures
}

async function bytesOf(url: string): Promise<Uint8Array> {
  return new Uint8Array(await (await fetch(url, { headers: { 'Accept-Encoding': 'identity' } })).arrayBuffer())
}
