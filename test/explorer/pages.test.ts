import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { PROBLEMS, type Problem } from '../../src/contract/problem.ts'
import { createExplorer } from '../../src/explorer/create-explorer.ts'
import { LINKS, MARKUP } from '../browser/hostile-items.ts'

const BASE = 'http://127.0.0.1:8080'
const explorer = createExplorer()

interface Facts {
  readonly name?: string
  readonly live?: number
  readonly keyField?: string | null
  readonly isPaginated?: boolean
  readonly isPrivate?: boolean
}

function factsOf(facts: Facts): Required<Facts> {
  return { name: 'events', live: 0, keyField: 'id', isPaginated: true, isPrivate: false, ...facts }
}

/** A page of a collection that has these items. */
function pageOf(items: readonly string[], facts: Facts = {}, page = 1, baseUrl = BASE): string {
  const collection = factsOf({ live: items.length, ...facts })
  const shown = collection.isPaginated ? page : 0
  return explorer.collection(baseUrl, { collection, page: shown, pieces: [Buffer.from(items.join(',\n'))] })
}

function itemPage(text: string, key = '1'): string {
  return explorer.item(BASE, { collection: 'events', key, text: Buffer.from(text) })
}

function problemPage(problem: Partial<Problem>, path = '/events/7'): string {
  const told = { type: `${BASE}/-/problems/x`, title: 'Oh', status: 404, detail: 'It is so.', hint: 'Do this.' }
  return explorer.problem(BASE, { ...told, ...problem }, { target: path, path })
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `{"id":${index + 1}}`)
const rowsOf = (page: string) => page.split('<tr><th scope="row">').length - 1
const columnsOf = (page: string) => [...page.matchAll(/<th scope="col"[^>]*>([^<]*?) ?</g)].map(([, name]) => name)
const factsIn = (page: string) => /<p class="facts">([^<]*)/.exec(page)?.[1]
const plain = (page: string) => page.replaceAll('&quot;', '"').replaceAll('&#39;', "'")

describe('the page of the entry', () => {
  const changedAt = Date.UTC(2026, 10, 16, 12, 30)
  const listed = (facts: Facts) => ({ ...factsOf(facts), changedAt })

  it('shows each collection with its size, a bar, its flags and its last change', () => {
    const collections = [
      listed({ live: 1234 }),
      listed({ name: 'venues', live: 617, isPaginated: false, keyField: null }),
      { ...listed({ name: 'turned', keyField: '\u202eyek', isPrivate: true }), changedAt: null },
    ]
    const page = explorer.entry(BASE, collections, true)
    assert.doesNotMatch(page, /Mirror of/)
    assert.equal(factsIn(page), '3 collections, 1,851 items')
    assert.match(page, /<a href="\/events">events<\/a><\/th>\n<td class="number">1,234<\/td><td class="number">3<\/td>/)
    assert.match(page, /<a href="\/venues">venues<\/a><\/th>\n<td class="number">617<\/td><td class="number">–<\/td>/)
    const found = [...page.matchAll(/<rect width="([^"]*)"/g)].map(([, width]) => width)
    assert.deepEqual(found, ['100.0', '50.0', '0.0'])
    assert.match(page, /<td>not paginated<\/td>[\s\S]*<td>private · key: \\u202eyek<\/td><td>–<\/td>/)
    assert.match(page, /<td>key: id<\/td><td><time datetime="2026-11-16T12:30:00.000Z">2026-11-16 12:30 UTC</)
  })

  it('says how to begin where there is nothing, and no part of the store is away', () => {
    assert.match(explorer.entry(BASE, [], true), /Nothing to see yet/)
    assert.doesNotMatch(explorer.entry(BASE, [], false), /Nothing to see yet/)
  })
})

describe('the page of a collection', () => {
  it('has the links of the data, a field to jump, a strip, and all items with links', () => {
    const page = pageOf(numbered(500), { live: 1234 }, 2)
    assert.match(page, /<title>events, page 2 · Reams<\/title>/)
    assert.ok(page.includes(`<main id="main" data-url="${BASE}/events?page=2" data-collection="events" data-page="2">`))
    assert.equal(factsIn(page), '1,234 items · page 2 of 3 · key: id')
    const links = [...page.matchAll(/<a rel="(\w+)" href="([^"]+)">/g)].map(([, rel, href]) => `${rel} ${href}`)
    assert.deepEqual(links, ['first /events', 'prev /events?page=1', 'next /events?page=3', 'last /events?page=3'])
    assert.match(
      page,
      /<form method="get" action="\/events">.*<input id="jump" name="page" [^>]* value="2" req[^>]*>of 3/s,
    )
    assert.match(page, /<input type="range" min="1" max="3" value="2" .*<output>items 501–1,000<\/output>/s)
    assert.equal(rowsOf(page), 500)
    assert.match(page, /<a href="\/events\/1" aria-label="Open item 501">501<\/a><\/th><td class="number pin">1<\/td>/)
    assert.match(page, /<a class="without-token" href="\/-\/json\/events\?page=2">Raw JSON<\/a>/)
    assert.ok(page.includes(`<pre tabindex="0">curl &#39;${BASE}/events?page=2&#39;<span class="with-token">`))
    for (const [shown, dead] of [
      [pageOf(numbered(500), { live: 1234 }), ['first', 'prev']],
      [pageOf(numbered(234), { live: 1234 }, 3), ['next', 'last']],
      [pageOf(numbered(2)), ['first', 'prev', 'next', 'last']],
    ] as const)
      assert.deepEqual(
        [...shown.matchAll(/<a rel="(\w+)" role="link" aria-disabled="true">/g)].map(([, rel]) => rel),
        dead,
      )
  })

  it('without pages has no pager, and shows all items', () => {
    const page = pageOf(numbered(40), { isPaginated: false, keyField: null })
    assert.doesNotMatch(page, /class="pager"|data-page="\d|<a href="\/events\//)
    assert.equal(factsIn(page), '40 items · not paginated')
    assert.match(page, /<button type="button" aria-label="Open item 40">40<\/button>/)
    const fields = Array.from({ length: 12 }, (_, place) => `"field${place}":"${'word '.repeat(5)}"`)
    const many = pageOf(
      Array.from({ length: 10_000 }, (_, index) => `{"id":${index},${fields}}`),
      { isPaginated: false },
    )
    assert.equal(rowsOf(many), 10_000)
    assert.deepEqual(columnsOf(many), ['#', 'id', ...Array.from({ length: 3 }, (_, place) => `field${place}`)])
    assert.match(many, /<caption>events, items 1–10,000<\/caption>/)
    assert.match(
      many,
      /<p class="notes">9 more fields have no column here: open an item to see all of it\. This page is large/,
    )
  })

  it('shows all of its rows, with less of each value where there is much on the page', () => {
    const words = (length: number, index: number) => `${index} ${'some words '.repeat(length / 10)}`.slice(0, length)
    const itemOf = (index: number, length: number) =>
      `{"id":${index},"title":"${words(length, index)}","tags":["${words(length, index)}"],"price":${index}.123456789012345678901,"at":"2026-01-01T20:00:00+02:00","url":"https://example.com/${'x'.repeat(length)}"}`
    for (const length of [100, 6_000]) {
      const page = pageOf(Array.from({ length: 500 }, (_, index) => itemOf(index, length)))
      assert.equal(rowsOf(page), 500, String(length))
      assert.match(page, /<caption>events, items 1–500<\/caption>/)
      for (const whole of ['499.123456789012345678901', '2026-01-01T20:00:00+02:00']) assert.ok(page.includes(whole))
      assert.match(page, />499 some words [^<]*<\/td>/)
      assert.ok(page.length < 3_000_000, String(page.length))
    }
  })

  it('says to the script what it has not all of: nothing for short values', () => {
    const valuesOf = (page: string) => /<table [^>]* data-values="([^"]*)" data-commit="([^"]*)">/.exec(page)?.slice(1)
    const shortenedIn = (page: string) => [...page.matchAll(/title="(\w+)" data-shortened>/g)].map(([, name]) => name)
    const short = pageOf(['{"id":1,"title":"x","o":{"a":[1,2,3]}}'])
    assert.equal(valuesOf(short), undefined)
    assert.deepEqual(shortenedIn(short), [])
    const items = [`{"id":1,"title":"${'x'.repeat(121)}","o":{"a":"${'x'.repeat(1000)}"},"url":"https://a.example/"}`]
    assert.deepEqual(valuesOf(pageOf(items)), ['events', ''])
    assert.deepEqual(shortenedIn(pageOf(items)), ['title', 'o'])
    const state = { collectionId: 46_655, version: 1200, changes: 12, commitId: 'AbC-_0123xy' }
    const collection = { ...factsOf({ live: 1 }), commitId: state.commitId }
    const content = { collection, page: 1, pieces: [Buffer.from(items[0] ?? '')] }
    assert.deepEqual(valuesOf(explorer.collection(BASE, content)), ['events', state.commitId])
    const path = 'events@zzz-xc-c-AbC-_0123xy'
    assert.deepEqual(valuesOf(explorer.collection(BASE, { ...content, state })), [path, state.commitId])
    const past = { ...content, collection: { ...collection, commitId: 'later' }, state }
    assert.deepEqual(valuesOf(explorer.past(BASE, { ...past, isChanges: false })), [path, state.commitId])
    assert.deepEqual(valuesOf(explorer.past(BASE, { ...past, isChanges: true })), [`${path}..`, 'later'])
  })

  it('counts full values above a column, and says how many it did not read', () => {
    const summaryIn = (page: string, column: number) =>
      (/<tr class="summary">(.*?)<\/tr>/s.exec(page)?.[1]?.split(/<td[^>]*>/) ?? [])[column] ?? ''
    for (const length of [1000, 15_000]) {
      const start = 'x'.repeat(length)
      const ends = ['a', 'b', 'c', 'c']
      const page = pageOf(ends.map((end, index) => `{"id":${index},"text":"${start}${end}"}`))
      assert.match(summaryIn(page, 3), /^<ol .*<\/span>2<svg.*<\/span>1<svg.*<\/span>1<svg/s)
    }
    const cut = pageOf(
      [`{"id":1,"text":"${'x'.repeat(5000)}","n":7}`, '{"id":2,"text":"y","n":8}', '{"id":3,"text":"y"}'],
      { live: 10_000, isPaginated: false },
    )
    assert.match(summaryIn(cut, 3), /<span>y<\/span>2<svg[\s\S]*<div class="quiet">1 value not read<\/div>/)
    assert.match(summaryIn(cut, 4), /Histogram of 1 value from 8 to 8[\s\S]*<div class="quiet">1 value not read<\/div>/)
    assert.match(cut, /<td class="null">…<\/td><\/tr>\n<tr>.*<td class="number">8<\/td><\/tr>\n<tr>.*<td><\/td><\/tr>/)
    assert.match(cut, /<p class="notes">Only the beginning of a large item is shown\.<\/p>/)
  })

  it('with very many fields shows all items, and the first fields', () => {
    const wide = `{${Array.from({ length: 100 }, (_, place) => `"field${place}":${place}`)}}`
    const page = pageOf(Array.from({ length: 500 }, () => wide))
    assert.equal(rowsOf(page), 500)
    assert.equal(columnsOf(page).length, 51)
    assert.match(page, /<p class="notes">50 more fields have no column here: open an item/)
  })

  it('of a mirror says what it is a copy of, how far it is behind, and since when nothing was heard', () => {
    const at = Date.UTC(2026, 10, 17, 20, 2, 19)
    const content = { collection: factsOf({ live: 1 }), page: 1, pieces: [Buffer.from('{"id":1}')] }
    const lineOf = (lag?: { versions: number; asOf: number | undefined; silentSince: number | undefined }) => {
      const page = explorer.collection(BASE, { ...content, mirror: { url: 'https://x.example/a&b', lag } })
      return /<p class="facts">(Mirror of .*)<\/p>/.exec(page)?.[1]?.replaceAll(/<[^>]*>/g, '')
    }
    assert.equal(lineOf(), 'Mirror of https://x.example/a&amp;b')
    assert.equal(
      lineOf({ versions: 1, asOf: at, silentSince: undefined }),
      'Mirror of https://x.example/a&amp;b, 1 version behind, as of 2026-11-17 20:02:19 UTC',
    )
    assert.equal(
      lineOf({ versions: 1234, asOf: at, silentSince: at + 60_000 }),
      'Mirror of https://x.example/a&amp;b, 1,234 versions behind, as of 2026-11-17 20:02:19 UTC, last report 2026-11-17 20:03:19 UTC',
    )
    assert.equal(
      lineOf({ versions: 0, asOf: undefined, silentSince: at }),
      'Mirror of https://x.example/a&amp;b, last report 2026-11-17 20:02:19 UTC',
    )
    assert.doesNotMatch(pageOf(numbered(1)), /Mirror/)
  })

  it('that is empty says so', () => {
    for (const isPaginated of [true, false])
      assert.match(pageOf([], { isPaginated }), /0 items[\s\S]*<section class="notice"><h2>No items yet<\/h2>/)
  })

  it('has columns in the order of their first appearance, and cells that show what was written', () => {
    const page = pageOf([
      '{"id":"a/b c","n":12345678901234567890,"e":1E5,"z":-0,"m":1.10}',
      '{ "id" : "ü" ,\t"extra" : true , "n" : null , "o" : { "a" : [ 1.0 , "]}," ] } , "s\\"" : "x\\"}" }',
      '{"day":"2026-01-07T20:00:00Z","no":"2026-02-31","site":"https://example.com/7","js":"javascript:alert(1)"}',
    ])
    const names = ['#', 'id', 'n', 'e', 'z', 'm', 'extra', 'o', 's&quot;', 'day', 'no', 'site', 'js']
    assert.deepEqual(columnsOf(page), names)
    assert.match(page, /<a href="\/events\/a%2Fb%20c" aria-label="Open item 1">1<\/a>/)
    for (const cell of [
      '<td class="number">12345678901234567890</td><td class="number">1E5</td><td class="number">-0</td><td class="number">1.10</td>',
      '<td class="null">null</td>',
      '<td class="boolean">true</td>',
      '<td class="object"><details><summary>{a: […]}</summary><pre class="json" tabindex="0">{\n  <b>"a"</b>: [\n    1.0,\n    "]},"\n  ]\n}</pre></details></td><td>x"}</td>',
      '<td class="date">2026-01-07T20:00:00Z</td>',
      '<td class="link"><a href="https://example.com/7" rel="noopener noreferrer" target="_blank">https://example.com/7</a></td>',
      '<td>javascript:alert(1)</td>',
    ])
      assert.ok(plain(page).includes(cell), cell)
  })

  it('sums up what is nested: the first fields of an object, the items of an array', () => {
    const long = JSON.stringify('x'.repeat(30))
    for (const [json, summary] of [
      ['{"name":"Vila","at":{"lat":1},"tags":["a"],"b":1,"c":2,"d":3}', '{name: "Vila", at: {…}, tags: […], …3}'],
      ['{"a b":null,"e":{},"f":[]}', '{"a b": null, e: {}, f: []}'],
      [`{"note":${long},"next":1}`, `{note: "${'x'.repeat(23)}…, …1}`],
      ['{ }', '{}'],
      ['[]', '[]'],
      ['[ 1.0,"two",null ]', '[1.0, "two", null]'],
      ['[{"a":1}]', '[1 item]'],
      [`[${Array.from({ length: 12 }, () => 1234)}]`, '[12 items]'],
    ])
      assert.ok(plain(pageOf([`{"o":${json}}`])).includes(`<summary>${summary}</summary>`), summary)
    const large = [
      `{"o":[${'1234567,'.repeat(2000)}0]}`,
      `{"o":{"a":1,"b":"${'x'.repeat(3900)}"}}`,
      `{"o":{"a":1,"b":"${'x'.repeat(9000)}"}}`,
    ]
    const whole = plain(pageOf(large))
    assert.match(whole, /<summary>\[more than 499 items\]<\/summary>/)
    assert.match(whole, /<summary>\{a: 1, b: "x{23}…\}<\/summary>/)
    const cut = plain(pageOf(large, { live: 10_000, isPaginated: false }))
    assert.match(cut, /<summary>\[more than 499 items\]<\/summary>/)
    assert.match(cut, /<summary>\{a: 1, …\}<\/summary>/)
  })

  it('pins the column of the key, else the first short value that all items have, else none', () => {
    const pinnedIn = (page: string) => /<th scope="col" class="[^"]* pin"[^>]*>([^ <]*)/.exec(page)?.[1]
    const items = ['{"o":{},"b":true,"maybe":1,"n":5,"id":7}', '{"o":{},"b":false,"n":6,"id":8}']
    assert.equal(pinnedIn(pageOf(items)), 'id')
    assert.equal(pinnedIn(pageOf(items, { keyField: 'n,id' })), 'n')
    assert.equal(pinnedIn(pageOf(items, { keyField: null })), 'n')
    assert.equal(pinnedIn(pageOf(['{"o":[],"s":"longer than a pinned column"}'], { keyField: null })), undefined)
  })

  it('leads to items whose key has several fields, and says how to enter such a key', () => {
    const page = plain(
      pageOf(['{"b":7,"a":"x,y\\\\"}', '{"b":"","a":8}', `{"b":1,"long":"${'x'.repeat(9000)}","a":1}`], {
        keyField: 'a,b',
        live: 10_000,
        isPaginated: false,
      }),
    )
    const links = [...page.matchAll(/<a href="([^"]*)" aria-label="Open item/g)].map(([, href]) => href)
    assert.deepEqual(links, ['/events/x%5C,y%5C%5C,7', '/events/8,'])
    assert.match(page, /<button type="button" aria-label="Open item 3">/)
    assert.equal(factsIn(page), '10,000 items · not paginated · key: a,b')
    assert.match(
      page,
      /<label for="find">Item by key \(a,b\)<\/label>\n<input [^>]*title="Enter the values with a comma /,
    )
  })

  it('names what is empty: null and an empty text; a missing field is named by the style sheet', () => {
    const page = pageOf(['{"id":1,"a":null,"b":"","c":"null"}', '{"id":2}'])
    assert.match(page, /<td class="null">null<\/td><td class="null">empty text<\/td><td>null<\/td><\/tr>/)
    assert.match(page, /<td class="number pin">2<\/td><td><\/td><td><\/td><td><\/td><\/tr>/)
    assert.match(page, /<li><span>empty text<\/span>1/)
  })

  it('has a field for a key, where it has keys', () => {
    assert.match(pageOf(numbered(2)), /<label for="find">Item by key \(id\)<\/label>/)
    assert.doesNotMatch(pageOf(numbered(2), { keyField: null }), /id="find"/)
  })

  it('says above each column what it holds: a histogram, the most frequent values, or how many there are', () => {
    const items = Array.from({ length: 500 }, (_, index) => {
      const day = new Date(Date.UTC(2026, 0, index + 1)).toISOString().slice(0, 10)
      const kind = ['concert', 'film', 'talk', 'walk'][index % 4]
      return `{"id":${index + 1},"day":"${day}","kind":"${kind}","title":"no. ${index}","huge":1e${index},"none":null}`
    })
    const [, , id, day, kind, title, huge, none] =
      /<tr class="summary">(.*?)<\/tr>/s.exec(pageOf(items))?.[1]?.split(/<td[^>]*>/) ?? []
    assert.match(id ?? '', /<title>Histogram of 500 values from 1 to 500, in 12 steps: 42, 42, /)
    assert.match(day ?? '', /<span>2026-01-01<\/span><span>2027-05-15<\/span>/)
    assert.match(kind ?? '', /<li><span>concert<\/span>125<svg.*<li class="quiet">1 other<\/li>/s)
    assert.equal(title, '500 different values</td>')
    assert.match(huge ?? '', /Histogram of 309 values from 1e0 to 1e308/)
    assert.equal(none, '</td>')
  })

  it('links by path, with the path of the base URL in front', () => {
    const page = pageOf(numbered(500), { live: 1234 }, 2, 'https://data.example.com/api/v1')
    const links = [...page.matchAll(/ (?:href|src|action)="([^"]*)"/g)].map(([, link = '']) => link)
    assert.ok(links.length > 500)
    for (const link of links) assert.match(link, /^\/api\/v1\//)
    assert.match(page, /data-url="https:\/\/data\.example\.com\/api\/v1\/events\?page=2"/)
  })
})

describe('the page of an earlier state', () => {
  const state = { collectionId: 46_655, version: 1200, changes: 12, commitId: 'AbC-_0123xy' }
  const path = '/events@zzz-xc-c-AbC-_0123xy'
  const pastOf = (items: readonly string[], isChanges: boolean, page = 1, live = items.length) =>
    explorer.past(BASE, {
      collection: factsOf({ live }),
      page,
      pieces: [Buffer.from(items.join(',\n'))],
      state,
      isChanges,
    })

  it('is linked where there is one', () => {
    const collection = factsOf({ live: 1 })
    const pieces = [Buffer.from('{"id":1}')]
    assert.ok(
      explorer.collection(BASE, { collection, page: 1, pieces, state }).includes(`<a href="${path}">Snapshot</a>`),
    )
    assert.doesNotMatch(explorer.collection(BASE, { collection, page: 1, pieces }), /Snapshot/)
  })

  it('says what it is, has pages of its own, and leads to the changes and to the live collection', () => {
    const page = pastOf(numbered(500), false, 2, 1234)
    assert.match(page, /<title>events as of version 1,200, page 2 · Reams<\/title>/)
    assert.equal(factsIn(page), '1,234 items · read only · page 2 of 3')
    assert.ok(
      page.includes(
        `<main id="main" data-url="${BASE}${path}?page=2" data-collection="${path.slice(1)}" data-page="2">`,
      ),
    )
    const links = [...page.matchAll(/<a rel="(\w+)" href="([^"]+)">/g)].map(([, rel, href]) => `${rel} ${href}`)
    assert.deepEqual(links, [`first ${path}`, `prev ${path}?page=1`, `next ${path}?page=3`, `last ${path}?page=3`])
    for (const link of [`<a href="${path}..">Changes since</a>`, '<a href="/events">Live collection</a>'])
      assert.ok(page.includes(link), link)
    assert.ok(page.includes(`href="/-/json${path}?page=2">Raw JSON`))
    assert.ok(plain(page).includes(`const url = '${BASE}${path}'`))
    // The item that has a key now may be another one.
    assert.doesNotMatch(page, /<a href="\/events\/|id="find"/)
  })

  it('is the same for changes, which can be none', () => {
    const page = pastOf(['{"op":"delete","key":"7","version":1201}'], true)
    assert.match(page, /<title>events, changes since version 1,200 · Reams<\/title>/)
    assert.equal(factsIn(page), '1 change · oldest first · page 1 of 1')
    assert.deepEqual(columnsOf(page).slice(1), ['op', 'key', 'version'])
    assert.ok(page.includes(`<a href="${path}">Snapshot</a>`))
    assert.match(pastOf([], true), /0 changes[\s\S]*<h2>No changes<\/h2>/)
    assert.match(pastOf([], false), /0 items[\s\S]*The collection was empty then/)
  })
})

describe('the page of an item', () => {
  it('has its JSON indented with every digit, and where its raw form is', () => {
    const page = itemPage('{"id":"a/b","n":12345678901234567890,"l":[1.10,{}],"s":"\\u0041\\n"}', 'a/b')
    const [, json = ''] = /<pre class="json" tabindex="0">(.*?)<\/pre>/s.exec(page) ?? []
    const lines = ['{', '  "id": "a/b",', '  "n": 12345678901234567890,', '  "l": [', '    1.10,', '    {}', '  ],']
    assert.equal(plain(json).replace(/<\/?b>/g, ''), [...lines, '  "s": "\\u0041\\n"', '}'].join('\n'))
    assert.match(page, /href="\/-\/json\/events\/a%2Fb">Raw JSON<\/a>/)
    assert.match(page, /data-url="http:\/\/127.0.0.1:8080\/events\/a%2Fb"/)
  })
})

describe('the page of a problem', () => {
  it('has title, detail and hint, and takes a token where one may help', () => {
    for (const { status, title, hint } of Object.values(PROBLEMS)) {
      const page = plain(problemPage({ status, title, hint, detail: 'It is "so".' }))
      for (const part of [title, hint, 'It is "so".']) assert.ok(page.includes(`>${part}<`), part)
      assert.equal(page.includes('Enter a token'), [401, 403, 404].includes(status), String(status))
    }
  })

  it('has the address that was asked for, and a way back', () => {
    for (const [path, name, back] of [
      ['/events/none', 'item-not-found', '<a href="/events">Back to events</a>'],
      ['/events/', 'path-not-found', '<a href="/events">Back to events</a>'],
      ['/events', 'collection-not-found', '<a href="/">All collections</a>'],
      ['/events@x', 'state-not-found', '<a href="/events">Back to events</a>'],
      ['/events@x..', 'state-expired', '<a href="/events">Back to events</a>'],
      ['/events@x', 'collection-not-found', '<a href="/">All collections</a>'],
      ['/events/7', 'collection-not-found', '<a href="/">All collections</a>'],
      ['/<b>/7', 'path-not-found', '<a href="/">All collections</a>'],
    ] as const) {
      const page = problemPage({ type: `${BASE}/-/problems/${name}` }, path)
      assert.ok(
        page.replaceAll('&lt;', '<').replaceAll('&gt;', '>').includes(`You asked for <code>${path}</code>`),
        path,
      )
      assert.ok(page.includes(back), path)
    }
    assert.ok(problemPage({}, `/${'x'.repeat(5000)}`).length < 5000)
  })
})

describe('hostile items', () => {
  it('are text in every place: as names, values, keys and fields of the key', () => {
    for (const text of [...MARKUP, ...LINKS, '\u202e\u0000\u0007\ud800', '</template><svg onload=alert(1)>']) {
      const json = JSON.stringify(text)
      // No key has half of a character.
      const key = text.replace('\ud800', '')
      const item = `{"id":${JSON.stringify(key)},${json}:${json},"o":{${json}:[${json}]}}`
      const pages = [
        pageOf([item]),
        pageOf([item.replaceAll('\\ud800', '')], { keyField: key }),
        itemPage(item, key),
        problemPage({ detail: text }),
        explorer.entry(BASE, [{ ...factsOf({ keyField: text }), changedAt: 0 }], true),
      ]
      for (const page of pages) {
        assert.equal(page.match(/<script/g)?.length, 1, page)
        assert.doesNotMatch(page, /<(?:img|!--)|<svg on|\0|\u202e/, text)
        const tags = [...page.matchAll(/<[a-z](?:[^>"]|"[^"]*")*>/g)].map(([tag]) => tag.replace(/"[^"]*"/g, '""'))
        for (const tag of tags) assert.doesNotMatch(tag, /\son\w+=/i, text)
        for (const [, href = ''] of page.matchAll(/ href="([^"]*)"/g)) assert.match(href, /^(?:\/|https?:)/)
      }
    }
  })

  it('are shown in part where they are too much', () => {
    const wide = `{${Array.from({ length: 300 }, (_, place) => `"f${place}":${place}`)}}`
    const long = `{"long":"${'\\u003c'.repeat(40_000)}","after":1}`
    const deep = `{"deep":${'['.repeat(500)}${']'.repeat(500)}}`
    const items = [long, deep, `{"number":${'9'.repeat(20_000)}}`, wide]
    const page = pageOf(items, { keyField: null, live: 10_000, isPaginated: false })
    assert.ok(page.length < 300_000, String(page.length))
    assert.match(page, /more fields have no column here.* Only the beginning of 2 large items is shown\./)
    assert.ok(page.includes(`${'&lt;'.repeat(120)}…`))
    assert.ok(page.includes(`${'9'.repeat(120)}…`))
  })

  it('are not linked if their key is cut off: the link would lead nowhere', () => {
    const linksOf = (item: string) =>
      [...pageOf([item], { live: 10_000, isPaginated: false }).matchAll(/<a href="([^"]*)" aria-label/g)].map(
        ([, href]) => href,
      )
    const fill = 'x'.repeat(4_065)
    assert.deepEqual(linksOf(`{"id":"12","fill":"${fill}","more":"${fill}"}`), ['/events/12'])
    assert.deepEqual(linksOf(`{"fill":"${fill}","id":"123456789012345678901234567890"}`), [])
  })

  it('may be cut off anywhere, also within an escape', () => {
    for (const end of ['\\u00e4', '\\"', '\\\\', 'ä', '😀'])
      for (let length = 4094 - 30; length < 4094; length++) {
        const item = `{"fill":"${'x'.repeat(length - 30)}","cut":"a${end.repeat(8)}","more":"${'y'.repeat(99)}"}`
        assert.equal(rowsOf(pageOf([item], { keyField: 'cut', live: 10_000, isPaginated: false })), 1)
      }
  })

  it('that are nested deep are not mostly blanks', () => {
    const page = itemPage(`{"id":1,"deep":${'['.repeat(500)}${'1,'.repeat(9_000)}1${']'.repeat(500)}}`)
    assert.match(page, /\n {80}1,\n {80}1,/)
    assert.doesNotMatch(page, / {81}/)
  })

  it('do not make a page of hundreds of megabytes', () => {
    const filler = '<'.repeat(300_000)
    const heavy = Array.from({ length: 20 }, (_, place) => `{"id":${place},"filler":"${filler}"}`)
    const page = pageOf(heavy)
    assert.equal(rowsOf(page), 20)
    assert.ok(page.length < 1_000_000, String(page.length))
    const item = itemPage(heavy[7] ?? '')
    assert.match(item, /The rest is not shown here; the raw JSON has all of it\./)
    assert.ok(item.length < 2_000_000)
    const names = Array.from({ length: 190 }, (_, place) => `"${place}":"${'<'.repeat(120)}"`)
    const dense = pageOf(Array.from({ length: 500 }, () => `{${names}}`))
    assert.ok(dense.length < 3_000_000, String(dense.length))
    assert.equal(rowsOf(dense), 500)
    assert.match(dense, /This page is large: values are shortened, and nested ones do not unfold\./)
    const links = Array.from({ length: 20 }, (_, place) => `"${place}":"https://example.com/${'&'.repeat(1000)}"`)
    const linked = pageOf(Array.from({ length: 500 }, () => `{${links}}`))
    assert.equal(rowsOf(linked), 500)
    assert.ok(linked.length < 3_000_000, String(linked.length))
  })
})
