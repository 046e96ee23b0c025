import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { compareFiles } from '../bench/compare.ts'

const COMPARE = fileURLToPath(new URL('../bench/compare.ts', import.meta.url))
const DIRECTORY = mkdtempSync(join(tmpdir(), 'reams-compare-test-'))
after(() => rmSync(DIRECTORY, { recursive: true, force: true }))

/** A run of 500 items with these figures of the question `depth`. */
function fileOf(name: string, figures: readonly object[], more: object = {}): string {
  const path = join(DIRECTORY, name)
  const answers = [{ question: 'depth', seconds: 1, figures }]
  writeFileSync(path, JSON.stringify({ items: 500, date: '2026-01-02T00:00:00.000Z', answers, ...more }))
  return path
}

const latency = (value: number) => ({ measured: 'last ÷ first', value, required: { atMost: 1.1 }, raw: {} })
const rate = (value: number) => ({ measured: 'ours ÷ theirs', value, better: 'higher', raw: {} })

describe('npm run bench:compare', () => {
  it('prints both values of what got worse, first', () => {
    const before = fileOf('before.json', [rate(20), latency(1)])
    const { status, text } = compareFiles([fileOf('now.json', [rate(30), latency(1.3)]), before])
    assert.equal(status, 1)
    const [, worse, better] = text.split('\n')
    assert.match(worse ?? '', /^worse +depth +last ÷ first +1\.00 +1\.30$/)
    assert.match(better ?? '', /^better +depth +ours ÷ theirs +20\.00 +30\.00$/)
    assert.match(text, /^Beside the run of 2026-01-02, with a tolerance of 15 %: 1 worse, 1 better, 0 the same\.$/m)
  })

  it('takes what lies within the tolerance for the same', () => {
    const before = fileOf('before.json', [rate(20), latency(1)])
    const { status, text } = compareFiles([fileOf('now.json', [rate(17.5), latency(1.14)]), before])
    assert.equal(status, 0)
    assert.match(text, /0 worse, 0 better, 2 the same/)
  })

  it('judges no figure of the machine, and none that only one of the runs has', () => {
    const memory = (value: number) => ({ ...latency(value), unit: 'MB' })
    const before = fileOf('before.json', [memory(100), { ...rate(1), measured: 'an old one' }])
    const { status, text } = compareFiles([fileOf('now.json', [memory(200), rate(1)]), before])
    assert.equal(status, 0)
    assert.match(text, /^not judged +depth +last ÷ first +100 MB +200 MB$/m)
    assert.match(text, /^new +depth +ours ÷ theirs +– +1\.00$/m)
    assert.match(text, /^gone +depth +an old one +1\.00 +–$/m)
  })

  it('says nothing of questions that were not asked again', () => {
    const before = fileOf('before.json', [rate(1)])
    const { status, text } = compareFiles([fileOf('now.json', [], { answers: [] }), before])
    assert.equal(status, 0)
    assert.match(text, /0 worse, 0 better, 0 the same/)
  })

  it('refuses runs of different sizes, files that are no runs, and runs without a recorded one', () => {
    const run = fileOf('now.json', [rate(1)])
    const larger = fileOf('before.json', [rate(1)], { items: 1000 })
    assert.throws(() => compareFiles([run, larger]), /The runs have 1000 and 500 items/)
    const other = fileOf('other.json', [], { answers: null })
    assert.throws(() => compareFiles([run, other]), /other\.json is not a run of the bench/)
    assert.throws(() => compareFiles([run]), /There is no recorded run of 500 items/)
    assert.throws(() => compareFiles([join(DIRECTORY, 'nowhere.json')]), /nowhere\.json cannot be read/)
    assert.throws(() => compareFiles([]), /^Error: Usage: /)
  })

  it('ends with status 1 if something got worse, and with 2 if it cannot compare', () => {
    const before = fileOf('before.json', [latency(1)])
    const now = fileOf('now.json', [latency(1.3)])
    const run = (...words: string[]) => spawnSync(process.execPath, [COMPARE, ...words], { encoding: 'utf8' })
    const worse = run(now, before)
    assert.deepEqual([worse.status, /^worse /m.test(worse.stdout), worse.stderr], [1, true, ''])
    const refused = run()
    assert.deepEqual([refused.status, refused.stdout, refused.stderr.startsWith('Usage: ')], [2, '', true])
  })
})
