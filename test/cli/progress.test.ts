import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { describe, it } from 'node:test'
import { promisify, stripVTControlCharacters } from 'node:util'
import { formatDuration } from '../../src/cli/output.ts'
import { progressLine, pullLine, startProgress, startPullProgress } from '../../src/cli/progress.ts'
import { counted } from '../../src/contract/message-text.ts'
import { serve } from './pull-servers.ts'
import { MAIN } from './run-cli.ts'

describe('progress', () => {
  const state = { label: 'events.ndjson', share: 0.25, items: 500_000, elapsedMs: 2_000, columns: 100 }

  it('shows share, items, items a second and time left; no share for a pipe, no rate in the first second', () => {
    const bar = '[========                      ]   25 %'
    assert.equal(progressLine(state), `events.ndjson  ${bar}  500,000 items  250,000 items/s  6.0 s left`)
    const pipe = progressLine({ ...state, label: 'standard input', share: undefined })
    assert.equal(pipe, 'standard input  500,000 items  250,000 items/s')
    const first = progressLine({ ...state, elapsedMs: 999 })
    assert.equal(first, `events.ndjson  ${bar}  500,000 items  3.0 s left`)
  })

  it('draws a bar on a terminal and takes it off at the end', async () => {
    const stream = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY: true, columns: 100 })
    const progress = startProgress('events.ndjson', 100, stream)
    progress.update(100, 7)
    await once(stream, 'readable')
    progress.stop()
    const drawn = String(stream.read())
    assert.match(drawn, /events\.ndjson {2}\[={30}\] {2}100 % {2}7 items/)
    assert.ok(drawn.endsWith('\u001b[2K'), 'ends by clearing the line')
  })

  it('draws nothing if it is stopped at once', async () => {
    const stream = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY: true, columns: 100 })
    startProgress('events.ndjson', 100, stream).stop()
    const other = Object.assign(new PassThrough(), { isTTY: true, columns: 100 })
    const later = startProgress('events.ndjson', 100, other)
    await once(other, 'readable')
    later.stop()
    assert.equal(stream.read(), null)
  })

  it('writes nothing where there is no terminal', () => {
    const stream = new PassThrough()
    const progress = startProgress('events.ndjson', 100, stream)
    progress.update(50, 1)
    const pull = startPullProgress('events.ndjson', 0, stream)
    pull.update({ items: 1, itemCount: 2, requestsInFlight: 1, bytes: 1 })
    progress.stop()
    pull.stop()
    assert.equal(stream.read(), null)
  })
})

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
    const narrow = '[===        ]  250,000 of 1,000,000 items  125,000 items/s  19 MB/s  6.0 s left'
    assert.equal(pullLine({ ...state, columns: 79 }), narrow)
    assert.equal(pullLine({ ...state, columns: 60 }), '250,000 of 1,000,000 items  125,000 items/s  6.0 s left')
    assert.equal(pullLine({ ...state, columns: 30 }), '250,000 of 1,000,000 items')
  })

  it('is never beyond its end, also when the collection gets smaller and is pulled again', () => {
    const smaller = pullLine({ ...state, items: 100, itemCount: 300, itemsBefore: 600 })
    assert.match(smaller, / 33 % {2}100 of 300 items {2}0 items/)
    const complete = pullLine({ ...state, items: 300, itemCount: 300, itemsBefore: 300 })
    assert.match(complete, /\[={30}\] {2}100 % {2}300 of 300/)
  })

  it('is drawn on a terminal, with why it waits, and taken off for the summary', async (t) => {
    if (process.platform !== 'linux' || spawnSync('script', ['--version']).status !== 0)
      return t.skip('there is no program "script" that could be a terminal')
    const { directory, url, server } = await serve(t, { items: 10_000 })
    server.delayMs = 50
    server.hook = (_asked, number) =>
      number === 2 ? { status: 503, headers: { 'Retry-After': '1' }, body: Buffer.alloc(0) } : undefined
    const command = `stty cols 140; ${process.execPath} ${MAIN} pull ${url} -o e.ndjson`
    const { stdout } = await promisify(execFile)('script', ['-qec', command, '/dev/null'], { cwd: directory })
    const shown = stripVTControlCharacters(stdout).replaceAll('\r', '\n')
    assert.match(
      shown,
      /e\.ndjson {2}\[=+ *\] +\d+ % {2}[\d,]+ of 10,000 items {2}[\d,]+ items\/s {2}.*B\/s {2}\d in flight/,
    )
    assert.match(shown, /reams: Request failed with status 503 .*; asking again in 1\.\d s \(retry 1\)\./)
    assert.match(shown, /events: complete with 10,000 items in e\.ndjson \(.*\)\.\s*$/)
  })
})

describe('figures', () => {
  const durations: [number, string][] = [
    [0, '0 ms'],
    [999, '999 ms'],
    [2_949, '2.9 s'],
    [59_940, '59.9 s'],
    [59_960, '1 min 0 s'],
    [3_599_400, '59 min 59 s'],
    [3_600_000, '1 h 0 min'],
  ]
  it('are written in the unit that fits', () => {
    for (const [durationMs, text] of durations) assert.equal(formatDuration(durationMs), text)
  })

  it('one item is no plural', () => assert.equal(counted(1, 'item'), '1 item'))
  it('thousands are set apart', () => assert.equal(counted(1_234_567, 'item'), '1,234,567 items'))
})
