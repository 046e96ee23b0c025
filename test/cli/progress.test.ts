import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { describe, it } from 'node:test'
import { progressLine, startProgress } from '../../src/cli/progress.ts'

describe('progress', () => {
  const state = { label: 'events.ndjson', share: 0.25, items: 500_000, elapsedMs: 2_000, columns: 100 }

  it('shows share, items, items a second and time left', () =>
    assert.equal(
      progressLine(state),
      'events.ndjson  [========                      ]   25 %  500,000 items  250,000 items/s  6.0 s left',
    ))

  it('fits into a narrow terminal with a long path', () => {
    const line = progressLine({ ...state, label: '/var/lib/somewhere/far/away/events.ndjson', columns: 79 })
    assert.equal(line, '…events.ndjson  [===       ]   25 %  500,000 items  250,000 items/s  6.0 s left')
    assert.ok(line.length <= 79)
  })

  it('shows no share and no time left for a pipe', () =>
    assert.equal(
      progressLine({ ...state, label: 'standard input', share: undefined }),
      'standard input  500,000 items  250,000 items/s',
    ))

  it('writes nothing where there is no terminal', () => {
    const stream = new PassThrough()
    const progress = startProgress('events.ndjson', 100, stream)
    progress.update(50, 1)
    progress.stop()
    assert.equal(stream.read(), null)
  })

  it('draws a bar on a terminal and takes it off at the end', () => {
    const stream = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY: true, columns: 100 })
    const progress = startProgress('events.ndjson', 100, stream)
    progress.update(100, 7)
    progress.stop()
    const drawn = String(stream.read())
    assert.match(drawn, /events\.ndjson {2}\[={30}\] {2}100 % {2}7 items/)
    assert.ok(drawn.endsWith('\u001b[2K'), 'ends by clearing the line')
  })
})
