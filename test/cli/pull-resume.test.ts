import assert from 'node:assert/strict'
import { appendFileSync, chmodSync, existsSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { numberedItems } from '../check/correct-server.ts'
import { linesOf, noteOf, type Pulled, pageOf, serve } from './pull-servers.ts'

/** A pull that is stopped by kill -9 when something is certain; answers how much. */
async function killed({ start, directory, server }: Pulled, name: string, ...words: string[]) {
  server.delayMs = 60
  const cli = start('-o', name, ...words)
  const certain = await noteOf(directory, name)
  cli.child.kill('SIGKILL')
  await cli.ends()
  server.delayMs = 0
  server.asked.length = 0
  return certain
}

/** Pages enough for a pull with 60 ms a page to come to its first note. */
const ITEMS = 60_000

const FORMS: readonly (readonly [name: string, ...words: string[]])[] = [
  ['e.ndjson'],
  ['e.json'],
  ['e.csv'],
  ['e.csv', '--columns', 'title,id'],
  ['e.ndjson.gz'],
  ['e.json.gz'],
  ['e.csv.gz'],
]

function contentOf(bytes: Buffer, name: string): string {
  return (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString()
}

describe('reams pull --resume', () => {
  for (const form of FORMS)
    it(`of ${form.join(' ')} goes on behind what is certain`, async (t) => {
      const pulled = await serve(t, { items: ITEMS })
      const { pull, pages, read, names } = pulled
      const [name, ...words] = form
      const { items } = await killed(pulled, ...form)
      assert.ok(items > 0 && items < ITEMS)
      const { status, stderr } = await pull('-o', name, ...words, '--resume')
      assert.equal(status, 0, stderr)
      const added = (ITEMS - items).toLocaleString('en-US')
      assert.match(stderr, new RegExp(`^events: complete with 60,000 items in ${name}, ${added} of them new \\(`))
      assert.ok(
        // One page that was there is asked for again, to see whether it is still the same.
        pages().every((page) => page >= items / 500),
        pages().join(' '),
      )
      assert.deepEqual(names(), [name])
      await pull('-o', `fresh-${name}`, ...words)
      assert.equal(contentOf(read(name), name), contentOf(read(`fresh-${name}`), name))
    })

  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    it(`after ${signal}, which leaves all that had come`, async (t) => {
      const pulled = await serve(t, { items: ITEMS })
      const { pull, start, server, directory, read, names } = pulled
      server.delayMs = 60
      const cli = start('-o', 'e.ndjson')
      await noteOf(directory, 'e.ndjson')
      const { status, stderr } = await cli.stop(signal)
      assert.equal(status, signal === 'SIGINT' ? 130 : 143)
      const [, count = ''] =
        /^reams: interrupted by SIG\w+\. ([\d,]+) of 60,000 items are in e\.ndjson\.part; add --resume to go on from there\.\n$/.exec(
          stderr,
        ) ?? []
      assert.deepEqual(names(), ['e.ndjson.part', 'e.ndjson.part.json'])
      const items = Number(count.replace(',', ''))
      assert.equal(read('e.ndjson.part').toString(), linesOf(numberedItems(items)), stderr)
      server.delayMs = 0
      assert.equal((await pull('-o', 'e.ndjson', '--resume')).status, 0)
      assert.equal(read('e.ndjson').toString(), linesOf(numberedItems(ITEMS)))
    })

  it('after the network failed for longer than it was retried', async (t) => {
    const { pull, server, read } = await serve(t, { items: 5000 })
    let answered = 0
    server.hook = () => (answered++ < 6 ? undefined : 'cut')
    const { status, stderr } = await pull('-o', 'e.ndjson', '--retries', '1', '--concurrency', '1')
    assert.match(
      stderr,
      /^reams: The connection failed: .*broke off.* [\d,]+ of 5,000 items are in e\.ndjson\.part; add/,
    )
    assert.equal(status, 3)
    server.hook = () => undefined
    assert.equal((await pull('-o', 'e.ndjson', '--resume')).status, 0)
    assert.equal(read('e.ndjson').toString(), linesOf(server.items))
  })

  it('with nothing to go on with begins', async (t) => {
    const { pull, server, read } = await serve(t)
    assert.equal((await pull('-o', 'e.ndjson', '--resume')).status, 0)
    assert.equal(read('e.ndjson').toString(), linesOf(server.items))
  })

  it('begins again when the collection is another one by now', async (t) => {
    const pulled = await serve(t, { items: ITEMS })
    const { pull, server, read } = pulled
    await killed(pulled, 'e.ndjson')
    server.items = server.items.slice(7)
    const { status, stderr } = await pull('-o', 'e.ndjson', '--resume')
    assert.equal(status, 0, stderr)
    assert.match(stderr, /^reams: the collection is not the same any more; it is pulled again from its beginning\.\n/)
    assert.equal(read('e.ndjson').toString(), linesOf(server.items))
  })

  it('cuts off what is behind the last certain item, and begins again if some of that is missing', async (t) => {
    const pulled = await serve(t, { items: ITEMS })
    const { pull, directory, server, read, names } = pulled
    const { bytes } = await killed(pulled, 'e.ndjson')
    appendFileSync(join(directory, 'e.ndjson.part'), '{"half of an it')
    const note = read('e.ndjson.part.json')
    assert.equal((await pull('-o', 'e.ndjson', '--resume')).status, 0)
    assert.equal(read('e.ndjson').toString(), linesOf(server.items))

    writeFileSync(join(directory, 'f.ndjson.part.json'), note)
    writeFileSync(join(directory, 'f.ndjson.part'), read('e.ndjson'))
    truncateSync(join(directory, 'f.ndjson.part'), bytes - 1)
    const { status, stderr } = await pull('-o', 'f.ndjson', '--resume')
    assert.equal(status, 0, stderr)
    assert.match(
      stderr,
      /^reams: f\.ndjson\.part has \d+ bytes, and should have \d+ at least: it is damaged, and the pull b/,
    )
    assert.equal(read('f.ndjson').toString(), linesOf(server.items))
    assert.deepEqual(names(), ['e.ndjson', 'f.ndjson'])
  })

  it('refuses the part of another pull, and --force begins again', async (t) => {
    const pulled = await serve(t, { items: ITEMS })
    const { pull, read, pages } = pulled
    const other = await serve(t)
    await killed(pulled, 'e.csv', '--columns', 'id')
    const cases: [words: string[], message: RegExp][] = [
      [
        [],
        /^reams: e\.csv\.part is there, with --columns id\. Pull to another file, or add --force to begin again\.\n/,
      ],
      [['--format', 'json'], /^reams: e\.csv\.part is there, csv\. Pull/],
    ]
    for (const [words, message] of cases) {
      const { status, stderr } = await pull('-o', 'e.csv', '--resume', ...words)
      assert.match(stderr, message)
      assert.equal(status, 2)
    }
    assert.equal(pages().length, 0)
    const { status } = await pull('-o', 'e.csv', '--resume', '--force')
    assert.equal(status, 0)
    assert.equal(read('e.csv').toString().split('\n', 1)[0], 'id,title')
    assert.equal(other.pages().length, 0)
  })

  it('refuses a part of which nothing is known, and one that was stopped is not overwritten without --force', async (t) => {
    const pulled = await serve(t, { items: ITEMS })
    const { pull, directory, read, pages } = pulled
    const { items } = await killed(pulled, 'e.ndjson')
    const known = await pull('-o', 'e.ndjson')
    const shown = items.toLocaleString('en-US')
    assert.equal(
      known.stderr,
      `reams: e.ndjson.part is there, with ${shown} items of a pull that was stopped. Add --resume to go on with it, or --force to begin again.\n`,
    )
    writeFileSync(join(directory, 'e.ndjson.part.json'), 'x')
    for (const words of [[], ['--resume']]) {
      const { status, stderr } = await pull('-o', 'e.ndjson', ...words)
      assert.match(
        stderr,
        /^reams: e\.ndjson\.part is there, and no note beside it says how far a pull has come\. Pull to another/,
      )
      assert.equal(status, 2)
    }
    assert.equal(pages().length, 0)
    assert.equal((await pull('-o', 'e.ndjson', '--force')).status, 0)
    assert.equal(read('e.ndjson').toString(), linesOf(numberedItems(ITEMS)))
  })
})

describe('reams pull --resume of a file that is finished', () => {
  for (const form of FORMS)
    it(`asks once whether ${form.join(' ')} is still complete, and fetches what was appended`, async (t) => {
      const { pull, server, pages, read, names } = await serve(t, { items: 1700 })
      const [name, ...words] = form
      await pull('-o', name, ...words)
      const before = read(name)
      server.asked.length = 0
      const still = await pull('-o', name, ...words, '--resume')
      assert.equal(still.stderr, `events: still complete with 1,700 items in ${name}.\n`)
      assert.equal(still.status, 0)
      // Where only some columns are there, the page before has to be the same too.
      assert.deepEqual(pages(), words.length === 0 ? [4] : [4, 3])
      assert.deepEqual(read(name), before)

      server.items = numberedItems(3100)
      const more = await pull('-o', name, ...words, '--resume')
      assert.equal(more.status, 0, more.stderr)
      assert.match(more.stderr, /^events: complete with 3,100 items in e\..*, 1,400 of them new \(/)
      assert.deepEqual(names(), [name])
      await pull('-o', `fresh-${name}`, ...words)
      assert.equal(contentOf(read(name), name), contentOf(read(`fresh-${name}`), name))
    })

  it('of an empty collection that has items by now', async (t) => {
    for (const [name, ...words] of FORMS) {
      const { pull, server, read } = await serve(t, { items: 0 })
      await pull('-o', name, ...words)
      server.items = numberedItems(700)
      assert.equal((await pull('-o', name, ...words, '--resume')).status, 0)
      await pull('-o', `fresh-${name}`, ...words)
      assert.equal(contentOf(read(name), name), contentOf(read(`fresh-${name}`), name))
    }
  })

  it('of a collection without pages', async (t) => {
    const { pull, server, read } = await serve(t, { items: 1200, isPaginated: false })
    await pull('-o', 'e.ndjson')
    assert.match((await pull('-o', 'e.ndjson', '--resume')).stderr, /still complete with 1,200 items/)
    server.items = numberedItems(1300)
    assert.match((await pull('-o', 'e.ndjson', '--resume')).stderr, /complete with 1,300 items.*, 100 of them new/)
    assert.equal(read('e.ndjson').toString(), linesOf(server.items))
  })

  it('of pretty-printed answers', async (t) => {
    const { pull } = await serve(t, { items: 700, isPretty: true })
    for (const name of ['e.ndjson', 'e.json', 'e.csv']) {
      await pull('-o', name)
      assert.match((await pull('-o', name, '--resume')).stderr, /still complete with 700 items/)
    }
  })

  it('pulls all of it again when an item has a field that is no column', async (t) => {
    const { pull, server, read, names } = await serve(t, { items: 700 })
    await pull('-o', 'e.csv')
    server.items = [...numberedItems(1200), { id: 1201, late: true }]
    const { status, stderr } = await pull('-o', 'e.csv', '--resume')
    assert.equal(status, 0, stderr)
    assert.match(
      stderr,
      /^reams: items have a field "late" by now, for which there is no column; all is pulled again\.\n/,
    )
    assert.equal(read('e.csv').toString().split('\n')[0], 'id,title,late')
    assert.equal(read('e.csv').toString().split('\n').length, 1203)
    assert.deepEqual(names(), ['e.csv'])
  })

  const changes: [what: string, change: (items: readonly unknown[]) => readonly unknown[], message: RegExp][] = [
    [
      'items were removed',
      (items) => items.slice(1),
      /^reams: e\.ndjson has 1,200 items, and the collection 1,199 items\. /,
    ],
    [
      'items were swapped',
      (items) => [...items.slice(1), { id: 0 }],
      /does not end with the items that the collection has/,
    ],
    [
      'it is all new',
      () => numberedItems(2000, 5),
      /does not end with the items that the collection has in these places/,
    ],
  ]
  for (const [what, change, message] of changes)
    it(`fails with exit status 1 when ${what}, and --force pulls it again`, async (t) => {
      const { pull, server, read, names } = await serve(t, { items: 1200 })
      await pull('-o', 'e.ndjson')
      server.items = change(server.items)
      const { status, stderr } = await pull('-o', 'e.ndjson', '--resume')
      assert.match(stderr, message)
      assert.match(stderr, / It cannot be gone on with; add --force to pull all of it again\.\n$/)
      assert.equal(status, 1)
      assert.equal(read('e.ndjson').toString(), linesOf(numberedItems(1200)))
      assert.equal((await pull('-o', 'e.ndjson', '--resume', '--force')).status, 0)
      assert.equal(read('e.ndjson').toString(), linesOf(server.items))
      assert.deepEqual(names(), ['e.ndjson'])
    })

  it('refuses a file that no pull has written', async (t) => {
    const { pull, directory, read } = await serve(t)
    const files = {
      'a.json': '{"a":1}',
      'b.ndjson': 'x',
      'c.csv': 'other,columns\n',
      'd.ndjson.gz': '\x1f\x8bno',
      'e.csv': '"',
    }
    for (const [name, text] of Object.entries(files)) {
      writeFileSync(join(directory, name), text, 'latin1')
      const { status, stderr } = await pull('-o', name, '--resume', ...(name === 'c.csv' ? ['--columns', 'id'] : []))
      assert.match(
        stderr,
        /(is not (nd)?(json|csv) as a pull writes it|has other columns: other,columns)\. It cannot be/,
      )
      assert.equal(status, 1)
      assert.equal(read(name).toString('latin1'), text)
    }
  })

  it('does not take items that are all alike for the same ones', async (t) => {
    const { pull, server } = await serve(t, { items: Array.from({ length: 1200 }, () => ({ a: 1 })) })
    await pull('-o', 'e.ndjson')
    server.items = [...server.items.slice(1), { a: 1 }]
    const { status, stderr } = await pull('-o', 'e.ndjson', '--resume')
    assert.equal(status, 1, stderr)
  })

  it('looks at the page before where items are alike', async (t) => {
    const readings = (count: number) => Array.from({ length: count }, (_, index) => ({ level: (index * index) % 7 }))
    const { pull, server } = await serve(t, { items: [...readings(1000), { level: 'same' }] })
    await pull('-o', 'e.ndjson')
    assert.match((await pull('-o', 'e.ndjson', '--resume')).stderr, /still complete with 1,001 items/)
    server.items = [...server.items.slice(1), { level: 'same' }]
    assert.equal((await pull('-o', 'e.ndjson', '--resume')).status, 1)
  })

  it('has the columns of the new items when they are all new on the way', async (t) => {
    const { pull, server, read, names } = await serve(t, { items: 700 })
    await pull('-o', 'e.csv')
    server.items = numberedItems(5000)
    server.hook = (asked) => {
      if (pageOf(asked) === 5) server.items = Array.from({ length: 4000 }, (_, id) => ({ id }))
      return undefined
    }
    const { status, stderr } = await pull('-o', 'e.csv', '--resume')
    assert.match(
      stderr,
      /^reams: the collection is not the same any more; all is pulled again\.\nevents: complete with 4,000/,
    )
    assert.equal(status, 0)
    assert.equal(read('e.csv').toString(), `id\n${Array.from({ length: 4000 }, (_, id) => `${id}\n`).join('')}`)
    assert.deepEqual(names(), ['e.csv'])
  })

  it('says of columns only what it knows', async (t) => {
    const { pull, server } = await serve(t, { items: 700 })
    await pull('-o', 'e.csv', '--columns', 'id,title')
    server.items = [...server.items, { id: 701 }]
    const { stderr } = await pull('-o', 'e.csv', '--columns', 'id,title', '--resume')
    assert.match(stderr, /^events: complete with 701 items in e\.csv, 1 of them new \([^)]*\)\.\n$/)
  })

  it('removes what a pull has left that was killed just before its end', async (t) => {
    const pulled = await serve(t, { items: ITEMS })
    const { pull, read, names, directory } = pulled
    await killed(pulled, 'e.ndjson')
    const note = read('e.ndjson.part.json')
    await pull('-o', 'e.ndjson', '--resume')
    writeFileSync(join(directory, 'e.ndjson.part.json'), note)
    assert.match((await pull('-o', 'e.ndjson', '--resume')).stderr, /still complete with 60,000 items/)
    assert.deepEqual(names(), ['e.ndjson'])
  })

  it('leaves who may read it as it was', async (t) => {
    for (const [name, ...words] of FORMS) {
      const { pull, server, directory } = await serve(t, { items: 700 })
      await pull('-o', name, ...words)
      const path = join(directory, name)
      for (const way of ['--resume', '--force']) {
        chmodSync(path, 0o600)
        server.items = numberedItems(server.items.length + 1)
        assert.equal((await pull('-o', name, ...words, way)).status, 0)
        assert.equal(statSync(path).mode & 0o777, 0o600, `${name} ${way}`)
      }
    }
  })

  it('keeps the file until the new one is complete', async (t) => {
    const { pull, server, read } = await serve(t, { items: 1200 })
    await pull('-o', 'e.ndjson')
    const before = read('e.ndjson')
    server.items = numberedItems(9000)
    server.hook = (asked) => (pageOf(asked) > 10 ? 'cut' : undefined)
    const { status, stderr } = await pull('-o', 'e.ndjson', '--resume', '--retries', '0')
    assert.match(stderr, /items are in e\.ndjson\.part; add --resume/)
    assert.equal(status, 3)
    assert.deepEqual(read('e.ndjson'), before)
    server.hook = () => undefined
    assert.equal((await pull('-o', 'e.ndjson', '--resume')).status, 0)
    assert.equal(read('e.ndjson').toString(), linesOf(server.items))
  })
})

describe('two pulls to one file', () => {
  it('the second is refused while the first runs', async (t) => {
    const { start, pull, server, directory, read } = await serve(t, { items: ITEMS })
    server.delayMs = 500
    const first = start('-o', 'e.ndjson')
    while (!existsSync(join(directory, 'e.ndjson.part'))) await sleep(5)
    for (const words of [[], ['--resume'], ['--force']]) {
      const { status, stderr } = await pull('-o', 'e.ndjson', ...words)
      assert.equal(
        stderr,
        'reams: Another pull to e.ndjson is under way. Wait for its end. If there is none, delete e.ndjson.part.lock.\n',
      )
      assert.equal(status, 3)
    }
    server.delayMs = 0
    assert.equal((await first.ends()).status, 0)
    assert.equal(read('e.ndjson').toString(), linesOf(server.items))
  })

  it('of many that begin at the same moment one runs', async (t) => {
    const { start, pull, server, read, names } = await serve(t, { items: 1200 })
    await pull('-o', 'e.ndjson')
    server.items = numberedItems(9000)
    server.delayMs = 100
    const all = Array.from({ length: 4 }, () => start('-o', 'e.ndjson', '--resume'))
    const results = await Promise.all(all.map((cli) => cli.ends()))
    const refused = results.filter(({ status }) => status === 3)
    assert.equal(refused.length, 3, JSON.stringify(results))
    for (const { stderr } of refused) assert.match(stderr, /^reams: Another pull to e\.ndjson is under way\./)
    assert.equal(read('e.ndjson').toString(), linesOf(server.items))
    assert.deepEqual(names(), ['e.ndjson'])
  })
})
