import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, it } from 'node:test'
import { promisify, stripVTControlCharacters } from 'node:util'
import { pullLine, startPullProgress } from '../../src/cli/pull/progress.ts'
import { serve } from './pull-servers.ts'
import { MAIN } from './run-cli.ts'

describe('the progress of a pull', () => {
  const state = {
    label: 'events.ndjson',
    items: 250_000,
    itemCount: 1_000_000,
    itemsBefore: 0,
    requestsInFlight: 4,
    bytes: 38_000_000,
    elapsedMs: 2_000,
    columns: 133,
  }

  it('shows items of all items, items and bytes a second, requests in flight and time left', () =>
    assert.equal(
      pullLine(state),
      'events.ndjson  [========                      ]   25 %  250,000 of 1,000,000 items  125,000 items/s  19 MB/s  4 in flight  6.0 s left',
    ))

  it('counts what this run has pulled, for the rate and the time left', () =>
    assert.match(
      pullLine({ ...state, itemsBefore: 200_000 }),
      / {2}250,000 of 1,000,000 items {2}25,000 items\/s {2}.* {2}30\.0 s left$/,
    ))

  it('fits into every terminal, and leaves out what says least', () => {
    for (let columns = 26; columns < 200; columns++) assert.ok(pullLine({ ...state, columns }).length <= columns)
    assert.equal(
      pullLine({ ...state, columns: 79 }),
      '[===        ]  250,000 of 1,000,000 items  125,000 items/s  19 MB/s  6.0 s left',
    )
    assert.equal(pullLine({ ...state, columns: 60 }), '250,000 of 1,000,000 items  125,000 items/s  6.0 s left')
    assert.equal(pullLine({ ...state, columns: 30 }), '250,000 of 1,000,000 items')
  })

  it('is never beyond its end, also when the collection gets smaller and is pulled again', () => {
    assert.match(
      pullLine({ ...state, items: 100, itemCount: 300, itemsBefore: 600 }),
      / 33 % {2}100 of 300 items {2}0 items/,
    )
    assert.match(
      pullLine({ ...state, items: 300, itemCount: 300, itemsBefore: 300 }),
      /\[={30}\] {2}100 % {2}300 of 300/,
    )
  })

  it('is drawn on a terminal alone', () => {
    const stream = new PassThrough()
    const progress = startPullProgress('events.ndjson', 0, stream)
    progress.update(state)
    progress.stop()
    assert.equal(stream.read(), null)
  })
})

describe('reams pull on a terminal', () => {
  const hasScript = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0

  async function onTerminal(directory: string, command: string): Promise<string> {
    const { stdout } = await promisify(execFile)('script', ['-qec', `stty cols 140; ${command}`, '/dev/null'], {
      cwd: directory,
    })
    return stripVTControlCharacters(stdout).replaceAll('\r', '\n')
  }

  it('draws a bar on it, and takes it off for the summary', async (t) => {
    if (!hasScript) return t.skip('there is no program "script" that could be a terminal')
    const { directory, url, server, read } = await serve(t, { items: 20_000 })
    server.delayMs = 50
    const shown = await onTerminal(directory, `${process.execPath} ${MAIN} pull ${url} -o e.ndjson`)
    assert.match(
      shown,
      /e\.ndjson {2}\[=+ *\] +\d+ % {2}[\d,]+ of 20,000 items {2}[\d,]+ items\/s {2}.*B\/s {2}\d in flight/,
    )
    assert.match(shown, /events: complete with 20,000 items in e\.ndjson \(.*\)\.\s*$/)
    assert.ok(read('e.ndjson').length > 0)
    const quiet = await onTerminal(directory, `${process.execPath} ${MAIN} pull ${url} -o ${join('q.ndjson')} --quiet`)
    assert.equal(quiet.trim(), '')
  })

  it('says why it waits', async (t) => {
    if (!hasScript) return t.skip('there is no program "script" that could be a terminal')
    const { directory, url, server } = await serve(t)
    server.hook = (_asked, number) =>
      number === 2 ? { status: 503, headers: { 'Retry-After': '1' }, body: Buffer.alloc(0) } : undefined
    const shown = await onTerminal(directory, `${process.execPath} ${MAIN} pull ${url} -o e.ndjson`)
    assert.match(shown, /reams: Request failed with status 503 .*; asking again in 1\.\d s \(retry 1\)\./)
    assert.match(shown, /events: complete with 1,001 items/)
  })

  it('draws no bar among the items', async (t) => {
    if (!hasScript) return t.skip('there is no program "script" that could be a terminal')
    const { directory, url } = await serve(t, { items: 3 })
    const shown = await onTerminal(directory, `${process.execPath} ${MAIN} pull ${url}`)
    assert.match(
      shown.replaceAll('\n\n', '\n'),
      /^\{"id":1,.*\}\n\{"id":2,.*\}\n\{"id":3,.*\}\nevents: complete with 3 items \(/,
    )
  })
})
