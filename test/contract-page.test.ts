/** Keeps docs/contract/ true: its page, its JSON Schema and its example bodies. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { checkConformance, RULES } from '../src/check/index.ts'
import { itemRun } from '../src/items/item-run.ts'
import { fencesOf, headingsOf } from './markdown.ts'
import { BASE, envelopeOf, fill, numbered, openService } from './service/open-service.ts'

interface JsonObject {
  readonly [name: string]: unknown
}

interface Envelope extends JsonObject {
  readonly item_count: number
  readonly _links: JsonObject
  readonly _embedded: JsonObject
}

type MakeEnvelope = (baseUrl: string, name: string, items: readonly unknown[], n: number) => Envelope

const API = 'https://api.example.com'
const COUNTS = [0, 1, 500, 501, 1234]

/** Ways to fill what the contract leaves open. */
const CHOICES: Readonly<Record<string, (body: Envelope) => Envelope>> = {
  'as it is': (body) => body,
  'with null at the ends': (body) => ({ ...body, _links: { prev: null, next: null, ...body._links } }),
  'with links at the ends that lead to the same page': (body) => ({
    ...body,
    _links: { prev: { href: `${API}/events?page=1` }, next: body._links['last'], ...body._links },
  }),
  'with another name and another array': (body) => ({
    ...body,
    _embedded: { notes: [], rows: body._embedded['events'] },
  }),
  'without an array if there are no items': (body) => (body.item_count === 0 ? { ...body, _embedded: {} } : body),
}

function read(path: string): string {
  return readFileSync(join(import.meta.dirname, '../docs/contract', path), 'utf8')
}

const page = read('README.md')
const ajv = new Ajv2020({ allErrors: true })
const isEnvelope = ajv.compile(JSON.parse(read('envelope.schema.json')))
const middlePage: Envelope = JSON.parse(read('examples/1234-items-page-2.json'))

function assertAccepts(body: unknown, what: string): void {
  assert.ok(isEnvelope(body), `${what}: ${ajv.errorsText(isEnvelope.errors)}`)
}

function itemsUpTo(count: number): JsonObject[] {
  return Array.from({ length: count }, (_, index) => ({ id: index + 1 }))
}

/** The function that the page shows. */
const [shownCode] = fencesOf(page).filter(({ language }) => language === 'js')
const { envelope }: { envelope: MakeEnvelope } = await import(
  `data:text/javascript,${encodeURIComponent(shownCode?.text ?? '')}`
)

describe('the page about the contract alone', () => {
  it('has a heading for each C rule, and names no D rule', () => {
    const ids = headingsOf(page).flatMap((heading) => /^C\d+(?= )/.exec(heading) ?? [])
    assert.equal(ids.join(' '), 'C1 C2 C3 C4 C5 C6 C7 C8 C9 C10')
    assert.doesNotMatch(page, /\bD\d/)
  })

  for (const [choice, change] of Object.entries(CHOICES))
    for (const count of COUNTS)
      it(`shows code that keeps the contract, ${choice}, with ${count} items`, async () => {
        const fetch = async ({ url }: Request) => {
          const n = Number(new URL(url).searchParams.get('page') ?? 1)
          const body = change(envelope(API, 'events', itemsUpTo(count), n))
          assertAccepts(body, url)
          return Response.json(body)
        }
        const { rules, verdict } = await checkConformance(`${API}/events`, { fetch, walk: true })
        const failed = rules.filter(({ status }) => status === 'fail').map(({ id, detail }) => `${id}: ${detail}`)
        assert.deepEqual(failed, [])
        assert.equal(verdict, 'passed')
      })

  for (const [file, count, n] of [
    ['0-items', 0, 1],
    ['500-items', 500, 1],
    ['1234-items-page-1', 1234, 1],
    ['1234-items-page-2', 1234, 2],
    ['1234-items-page-3', 1234, 3],
    ['1234-items-page-3', 1234, 4],
  ] as const)
    it(`has ${file}.json as that code returns it for page ${n}`, () => {
      const body: unknown = JSON.parse(read(`examples/${file}.json`))
      assert.deepEqual(body, envelope(API, 'events', itemsUpTo(count), n))
      assertAccepts(body, file)
      assert.ok(page.includes(`](examples/${file}.json)`))
    })

  it('begins with page 2 of 1,234 items', () => {
    const [shown] = fencesOf(page).filter(({ language }) => language === 'json')
    const [beginning = '', end = ''] = shown?.text.split('      …\n') ?? []
    const body = read('examples/1234-items-page-2.json')
    assert.ok(beginning !== '' && body.startsWith(beginning) && end !== '' && body.endsWith(end))
  })
})

describe('the schema of the envelope', () => {
  it('accepts our own pages: live, of a snapshot and of changes', async (t) => {
    const { store, get } = await openService(t)
    const assertPages = async (url: string) => {
      for (const query of ['', '?page=1', '?page=2', '?page=3', '?page=99']) {
        const response = await get(`${url}${query}`)
        assert.equal(response.status, 200)
        assertAccepts(await response.json(), `${url}${query}`)
      }
    }
    for (const count of COUNTS) {
      const name = `items-${count}`
      await fill(store, name, numbered(count))
      await assertPages(`${BASE}/${name}`)
      const { _links: links } = await envelopeOf(await get(`/${name}`))
      const snapshot = links['snapshot']?.href ?? assert.fail('no snapshot is linked')
      // Two pages of changes.
      await store.append(name, itemRun(numbered(501, 5000), { keyField: 'id' }))
      await assertPages(snapshot)
      await assertPages(`${snapshot}..`)
    }
  })

  it('accepts the right example of every rule that shows an envelope', () => {
    const bodies = RULES.flatMap(({ id, scope, right }) => {
      const body = scope === 'unpaginated' ? undefined : completed(right)
      return body === undefined ? [] : [{ id, body }]
    })
    for (const { id, body } of bodies) assertAccepts(body, `${id}, ${JSON.stringify(body)}`)
    const ids = bodies.map(({ id }) => id).filter((id) => id.startsWith('C'))
    assert.deepEqual(ids.toSorted(), ['C1', 'C2', 'C4', 'C5', 'C9'])
  })

  it('rejects the wrong example of every rule about the form, and accepts those of other rules', () => {
    const rejected = RULES.filter(({ wrong }) => {
      const body = completed(wrong)
      return body !== undefined && !isEnvelope(body)
    })
    // D11: a parameter of the request in a link, which breaks C4 too.
    assert.deepEqual(rejected.map(({ id }) => id).toSorted(), ['C1', 'C4', 'C5', 'D11'])
  })

  const { _links: links } = middlePage
  const { prev: _prev, next: _next, ...ends } = links
  const withLinks = (others: JsonObject) => ({ ...middlePage, _links: { ...links, ...others } })
  const toNext = (href: unknown) => withLinks({ next: { href } })

  const open: Readonly<Record<string, unknown>> = {
    'no prev and no next': { ...middlePage, _links: ends },
    'null as prev and next': withLinks({ prev: null, next: null }),
    'a next beyond the last page': toNext(`${API}/events?page=4`),
    'pages that count from 0': withLinks({ prev: { href: `${API}/events?page=0` } }),
    'a base URL with a path': withLinks({ first: { href: 'http://127.0.0.1:3000/data/v1/events' } }),
    'other links of any form': withLinks({ self: { href: '/events' }, help: [{ href: '' }], search: null, total: 3 }),
    'other fields': { ...middlePage, generated: '2026-01-01', pages: { size: 500 } },
    'nothing in _embedded': { ...middlePage, _embedded: {} },
    'several entries in _embedded': { ...middlePage, _embedded: { items: [1], warnings: [], note: 'x' } },
  }
  for (const [what, body] of Object.entries(open))
    it(`leaves open what the contract leaves open: ${what}`, () => assertAccepts(body, what))

  const broken: Readonly<Record<string, unknown>> = {
    null: null,
    'an array': [middlePage],
    'no item_count': { ...middlePage, item_count: undefined },
    'item_count as a string': { ...middlePage, item_count: '1234' },
    'half an item': { ...middlePage, item_count: 1233.5 },
    'fewer than no items': { ...middlePage, item_count: -1 },
    'no _links': { ...middlePage, _links: undefined },
    '_links as an array': { ...middlePage, _links: [ends] },
    'no _embedded': { ...middlePage, _embedded: undefined },
    '_embedded as an array': { ...middlePage, _embedded: [{ id: 1 }] },
    'no first': withLinks({ first: undefined }),
    'null as first': withLinks({ first: null }),
    'first with a number': withLinks({ first: { href: `${API}/events?page=1` } }),
    'no last': withLinks({ last: undefined }),
    'null as last': withLinks({ last: null }),
    'last without a number': withLinks({ last: { href: `${API}/events` } }),
    'prev without a number': withLinks({ prev: { href: `${API}/events` } }),
    'next as a string': withLinks({ next: `${API}/events?page=3` }),
    'next as an array': withLinks({ next: [{ href: `${API}/events?page=3` }] }),
    'next without href': withLinks({ next: {} }),
    'next with another field': withLinks({ next: { href: `${API}/events?page=3`, title: 'Next' } }),
    'a number as href': toNext(3),
    'a relative link': toNext('/events?page=3'),
    'a link without a scheme': toNext('//api.example.com/events?page=3'),
    'a link without a collection': toNext(`${API}?page=3`),
    'a slash after the collection': toNext(`${API}/events/?page=3`),
    'another parameter': toNext(`${API}/events?page=3&limit=500`),
    'another parameter before page': toNext(`${API}/events?limit=500&page=3`),
    'a fragment': toNext(`${API}/events?page=3#top`),
    'page without a value': toNext(`${API}/events?page=`),
    'page as a word': toNext(`${API}/events?page=three`),
    'a line break after the link': toNext(`${API}/events?page=3\n`),
  }
  for (const [what, body] of Object.entries(broken))
    it(`rejects what breaks C1, C4 or C5: ${what}`, () => assert.ok(!isEnvelope(body)))
})

/**
 * The whole body that the example of a rule abbreviates; undefined if it shows none. Examples are JSON with `…` for omitted
 * parts, a few members without braces, or links in words (`prev …?page=1`). The middle page fills in the rest.
 */
function completed(example: string): unknown {
  const shown = example.split('→ ').at(-1) ?? ''
  const json = shown.replace(/^200\n/, '').replace(/[^}\]]*$/, '')
  if (/^[{["]/.test(json)) return completedJson(json)
  const words = [...shown.matchAll(/\b(first|prev|next|last) …(?:\/events)?(\?page=\d+)?/g)]
  const links = words.map(([, relation = '', query = '']) => [relation, { href: `${API}/events${query}` }])
  return links.length === 0 ? undefined : withMembers(Object.fromEntries(links))
}

function completedJson(json: string): unknown {
  const text = json
    .replaceAll('"…/', `"${API}/`)
    .replaceAll(/\{…(\?page=\d+)\}/g, `{"href": "${API}/events$1"}`)
    .replaceAll(/(?<=\{)…|…(?=\})/g, '"…": true')
    .replaceAll(/(?<=[[ ])…(?=\])/g, '{}')
  const value: unknown = JSON.parse(text.startsWith('"') ? `{${text}}` : text, fillIn)
  return Array.isArray(value) ? value : withMembers(value as JsonObject)
}

/** A reviver for JSON.parse: replaces the member `…` of an object by those of the middle page. */
function fillIn(name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('…' in value)) return value
  const { '…': _, ...members } = value
  const whole = name === '_links' ? middlePage._links : middlePage._links[name]
  return { ...(whole as JsonObject | undefined), ...members }
}

/** The middle page with these fields instead of its own; any other name is that of a link. */
function withMembers(members: JsonObject): JsonObject {
  const { item_count = middlePage.item_count, _embedded = middlePage._embedded, _links, ...others } = members
  return { item_count, _embedded, _links: { ...((_links ?? middlePage._links) as JsonObject), ...others } }
}
