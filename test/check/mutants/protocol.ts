/** Mutants that err in HTTP: caching, methods, media types and errors. */

import { type Answered, Problem } from '../correct-server.ts'
import { grow, type Mutant, mutant, type Spoilt, without } from './mutant.ts'

const withHeaders = (more: Record<string, string>): Spoilt => ({ headers: (headers) => ({ ...headers, ...more }) })

const withoutHeader = (name: string): Spoilt => ({ headers: (headers) => without(headers, name) })

/** Answers HEAD with something else. */
const headWith = ({ headers, ...more }: Partial<Answered>): Spoilt => ({
  collection: (answered, { method }) =>
    method === 'HEAD' ? { ...answered, ...more, headers: { ...answered.headers, ...headers } } : answered,
})

const CACHING: readonly Mutant[] = [
  mutant('Pages have no ETag.', 'D16', withoutHeader('ETag')),
  mutant('The last page has no ETag.', 'D16', {
    headers: (headers, _plain, _encoding, asked, right) => {
      const isLast = asked.path === '/events' && right.requestedPage(asked) >= 3n
      return isLast ? without(headers, 'ETag') : headers
    },
  }),
  mutant('ETags are weak.', 'D16', (right) => ({
    headers: (plain, encoding, asked) => {
      const headers = right.headers(plain, encoding, asked)
      return { ...headers, ETag: `W/${headers['ETag']}` }
    },
    isFresh: (tag, asked) => right.isFresh(tag.replace('W/', ''), asked),
  })),
  mutant('ETags stand there without double quotes.', 'D16', { etag: (tag) => tag.replaceAll('"', '') }),
  mutant('The ETag is that of the collection, on every page.', 'D16', {
    etag: (_tag, _plain, encoding) => `"version-7-${encoding}"`,
  }),
  mutant('The packed answer has the ETag of the plain one.', 'D16', { etag: (tag) => tag.replace('gzip', 'identity') }),
  mutant('The ETag is made of the items of the page: it stays while item_count grows.', 'D16', (right) => {
    let requests = 0
    return {
      answer: (asked) => {
        if (++requests === 30) grow(right)
        return right.answer(asked)
      },
      etag: (plain, encoding, asked) =>
        right.etag(Buffer.from(`${plain}`.replace(/^.*"_embedded"/s, '')), encoding, asked),
    }
  }),
  mutant('Every answer has an ETag of its own.', ['D16', 'C7', 'D13'], () => {
    let turn = 0
    return { etag: () => `"${turn++}"` }
  }),
  mutant('If-None-Match is ignored.', 'D16', { isFresh: () => false }),
  mutant('If-None-Match is compared as a text: a list, a weak tag and * give no 304.', 'D16', {
    isFresh: (_isFresh, tag, { headers }) => headers['if-none-match'] === tag,
  }),
  mutant('Any If-None-Match gives 304.', 'D16', {
    isFresh: (_isFresh, _tag, { headers }) => headers['if-none-match'] !== undefined,
  }),
  mutant('Pages have no Cache-Control.', 'D16', withoutHeader('Cache-Control')),
  mutant(
    'Pages may be kept for an hour without asking.',
    'D16',
    withHeaders({ 'Cache-Control': 'public, max-age=3600' }),
  ),
]

const METHODS: readonly Mutant[] = [
  mutant('HEAD has the length of the body that it does not send.', 'D13', headWith({ body: Buffer.alloc(0) })),
  mutant('HEAD has the ETag of an empty body.', 'D13', headWith({ headers: { ETag: '"empty"' } })),
  mutant('HEAD has the Content-Type text/plain.', 'D13', headWith({ headers: { 'Content-Type': 'text/plain' } })),
  mutant('There is no route for HEAD.', 'D13', headWith({ status: 404 })),
  mutant('OPTIONS is refused.', 'D13', {
    optionsAnswer: () => {
      throw new Problem(405, 'method-not-allowed', 'The method is OPTIONS.', 'Use GET.')
    },
  }),
  mutant('OPTIONS does not say which methods there are.', 'D13', {
    optionsAnswer: (answered) => ({ ...answered, headers: {} }),
  }),
  mutant('OPTIONS names GET alone.', 'D13', {
    optionsAnswer: (answered) => ({ ...answered, headers: { Allow: 'GET' } }),
  }),
  mutant('A GET without a body has to say what type its body has.', ['C10', 'C1'], {
    collection: (answered, { headers }) => {
      if (headers['content-type'] !== undefined) return answered
      throw new Problem(415, 'unsupported-media-type', 'There is no Content-Type.', 'Send application/json.')
    },
  }),
  mutant('A GET without a body has to say how long its body is.', ['C10', 'C1'], {
    collection: (answered, { headers }) => {
      if (headers['content-length'] !== undefined) return answered
      throw new Problem(411, 'length-required', 'There is no Content-Length.', 'Send one.')
    },
  }),
]

const TYPES: readonly Mutant[] = [
  mutant('A client that asks for HTML or an image gets 406.', 'D12', {
    mediaType: (type, { headers: { accept = '*/*' } }) => {
      if (/json|\*\/\*/.test(accept)) return type
      throw new Problem(406, 'not-acceptable', `Accept is ${accept}.`, 'Accept JSON.')
    },
  }),
  mutant('Whoever lists text/html gets HTML, browser or not.', 'D12', {
    represent: (answered, _document, { headers }) => {
      if (!headers.accept?.includes('text/html')) return answered
      return { status: 200, headers: { 'Content-Type': 'text/html' }, body: Buffer.from('<h1>Events</h1>') }
    },
  }),
  mutant('The Content-Type is text/plain.', 'D12', withHeaders({ 'Content-Type': 'text/plain' })),
  mutant(
    'The Content-Type is application/json, whatever is asked for.',
    'D12',
    withHeaders({ 'Content-Type': 'application/json' }),
  ),
  mutant('application/json has a field more.', 'D12', {
    envelope: (envelope, page, asked, right) =>
      right.mediaType(asked) === 'application/json' ? { ...envelope, page } : envelope,
  }),
  mutant('There is no Vary.', 'D12', withoutHeader('Vary')),
  mutant('Vary names the encoding alone.', 'D12', withHeaders({ Vary: 'Accept-Encoding' })),
]

const ERRORS: readonly Mutant[] = [
  mutant('Errors are pages for people.', 'D14', {
    problem: ({ status }, { message }) => ({
      status,
      headers: { 'Content-Type': 'text/html' },
      body: Buffer.from(`<h1>${message}</h1>`),
    }),
  }),
  mutant('Errors do not have the type of problem details.', 'D14', {
    problem: (answered) => ({ ...answered, headers: { 'Content-Type': 'application/json' } }),
  }),
  mutant('Errors do not say what to do.', 'D14', {
    problem: (answered) => ({ ...answered, body: Buffer.from(`${answered.body}`.replace('"hint"', '"help"')) }),
  }),
  mutant('Errors do not say which value is wrong.', 'D14', (right) => ({ invalidPage: () => right.invalidPage('…') })),
  mutant('The status in a problem is not that of the answer.', 'D14', {
    problem: (answered) => ({
      ...answered,
      body: Buffer.from(`${answered.body}`.replace(/"status":\d+/, '"status":500')),
    }),
  }),
  mutant('The type of a problem leads to a 404.', 'D14', {
    route: (answered, { path }, right) => {
      if (path.startsWith('/-/')) throw right.notFound(path)
      return answered
    },
  }),
  mutant('A collection that does not exist is an empty one.', 'D14', {
    answer: (answered, asked, right) =>
      answered.status === 404 ? right.represent({ item_count: 0, _links: {}, _embedded: {} }, asked) : answered,
  }),
]

export const PROTOCOL_MUTANTS: readonly Mutant[] = [...CACHING, ...METHODS, ...TYPES, ...ERRORS]
