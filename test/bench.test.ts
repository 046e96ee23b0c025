import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { compareFiles } from '../bench/compare.ts'
import { figureNames, fill } from '../bench/docs/fill.ts'
import { namedFigures } from '../bench/docs/named-figures.ts'
import { plotsOf } from '../bench/docs/plots.ts'
import { benchmarkFiles } from '../bench/docs/write.ts'
import { scaleOf } from '../bench/plot/scale.ts'
import { selfTimes, sharesByOwner } from '../bench/profile-times.ts'
import { QUESTIONS } from '../bench/questions/index.ts'
import { ROOT, readRun } from '../bench/recorded-run.ts'
import { COMMANDS } from '../src/cli/program.ts'

const FILES = benchmarkFiles()
const RUN = readRun('bench/results/full.json')

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

describe('what the documentation shows of the recorded run', () => {
  for (const [path, text] of FILES)
    it(`${path} is what "npm run bench:docs" writes`, () => assert.equal(read(path), text))

  it('is all there is in docs/benchmarks/', () => {
    const written = [...FILES.keys()].flatMap((path) => /^docs\/benchmarks\/(.*)/.exec(path)?.[1] ?? [])
    assert.deepEqual(readdirSync(join(ROOT, 'docs/benchmarks')).sort(), written.sort())
  })

  it('is of questions that are still asked, and names only commands that exist', () => {
    const questions = new Set(QUESTIONS.map(({ name }) => name))
    const commands = new Set(COMMANDS.map(({ name }) => name.split(' ', 1)[0]))
    for (const { question, figures } of RUN.answers) {
      assert.ok(questions.has(question), `"${question}" is not asked any more: do a full run, or remove its figures`)
      for (const text of figures.flatMap(({ measured, note = '' }) => [measured, note]))
        for (const [shown, command = ''] of text.matchAll(/\breams ([a-z]+)/g))
          assert.ok(commands.has(command), `${question}: there is no ${shown}`)
    }
  })

  it('names each figure of the explanation that can be named', () => {
    const used = new Set(figureNames(read('docs/explanation/how-pages-stay-cheap.md')))
    assert.deepEqual([...used].sort(), [...namedFigures(RUN).keys()].sort())
  })
})

describe('the pictures', () => {
  it('are well-formed XML without a script, with colours for the dark and their values in words', () => {
    for (const [name, svg] of plotsOf(RUN)) {
      assertWellFormed(svg, name)
      assert.match(svg, /@media \(prefers-color-scheme: dark\)/)
      assert.match(svg, /<desc>.*\d.*<\/desc>/)
    }
  })

  it('say where they have nothing to show', () => {
    for (const [name, svg] of plotsOf({ ...RUN, answers: [] })) {
      assertWellFormed(svg, name)
      assert.match(svg, /<text[^>]*>Not measured in this run\.<\/text>/)
    }
  })
})

/** Tags that match, attributes in quotes, and nothing that has to be escaped. */
function assertWellFormed(xml: string, name: string): void {
  const open: string[] = []
  const token =
    /<(\/?)([a-z]+)((?: [\w-]+="[^"<&]*(?:&(?:amp|lt|gt|quot);[^"<&]*)*")*)(\/?)>|[^<>&]+|&(?:amp|lt|gt|quot);/y
  while (token.lastIndex < xml.length) {
    const at = token.lastIndex
    const [, closing, tag = '', , isEmpty] = token.exec(xml) ?? assert.fail(`${name}: ${xml.slice(at, at + 80)}`)
    if (tag === '') continue
    assert.notEqual(tag, 'script', name)
    if (closing === '/') assert.equal(open.pop(), tag, name)
    else if (isEmpty === '') open.push(tag)
    if (open.length === 0) assert.match(xml.slice(token.lastIndex), /^\s*$/, name)
  }
  assert.deepEqual(open, [], name)
}

describe('a scale', () => {
  it('begins at 0 and is marked with round numbers, if it is linear', () => {
    const { ticks, at } = scaleOf('linear', [410, 948])
    assert.deepEqual(ticks, [0, 200, 400, 600, 800, 1000])
    assert.equal(at(500), 0.5)
    assert.deepEqual(scaleOf('linear', [100]).ticks, [0, 20, 40, 60, 80, 100])
  })

  it('goes from power to power of ten, if it is logarithmic', () => {
    const { ticks, at } = scaleOf('log', [0.5, 948])
    assert.deepEqual(ticks, [0.1, 1, 10, 100, 1000])
    assert.equal(at(10), 0.5)
  })
})

describe('a page with figures', () => {
  it('gets the new values, and keeps its text', () => {
    const page = 'It takes <!-- figure: a -->1<!-- / --> ms, or\n<!-- figure: b --><!-- / -->.'
    const filled = fill(page, new Map(Object.entries({ a: '2', b: 'x\ny' })))
    assert.equal(filled, 'It takes <!-- figure: a -->2<!-- / --> ms, or\n<!-- figure: b -->x\ny<!-- / -->.')
    assert.deepEqual(figureNames(filled), ['a', 'b'])
  })

  it('cannot name a figure that there is not', () => {
    assert.throws(
      () => fill('<!-- figure: c --><!-- / -->', new Map([['a', '1']])),
      /There is no figure "c"\. There are: a\./,
    )
  })
})

describe('a profile', () => {
  it('gives each function the time of its own, without the start and without waiting', () => {
    const frame = (functionName: string, url = '', lineNumber = 0) => ({ functionName, url, lineNumber })
    const frames = [
      frame('start', 'file:///clone/src/cli/main.ts'),
      frame('answer', 'file:///clone/src/service/answer.ts', 9),
      frame('(idle)'),
      frame('writev'),
      frame('answer', 'file:///clone/src/service/answer.ts', 9),
    ]
    const nodes = frames.map((callFrame, id) => ({ id, callFrame }))
    const profile = { nodes, samples: [0, 1, 2, 3, 4], timeDeltas: [9e6, 1e6, 3e6, 2e6, 1e6] }
    const times = selfTimes(profile, 7)
    assert.deepEqual(times, [
      { name: 'answer', place: 'src/service/answer.ts:10', share: 0.5 },
      { name: 'writev', place: '', share: 0.5 },
    ])
    assert.deepEqual([...sharesByOwner(times).values()], [0.5, 0.5])
  })
})

const COMPARE = join(ROOT, 'bench/compare.ts')
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
