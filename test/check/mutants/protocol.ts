/** Mutants that err in HTTP: caching, methods, media types and errors. */

import { type Answered, type Asked, Problem } from '../correct-server.ts'
import { type Change, grow, type Mutant, mutant, without } from './mutant.ts'

/** Adds headers to the answers, or changes some. */
function withHeaders(change: (asked: Asked) => Record<string, string>): Change {
  return (right) => ({
    headers: (plain, encoding, asked) => ({ ...right.headers(plain, encoding, asked), ...change(asked) }),
  })
}

function withoutHeader(name: string): Change {
  return (right) => ({
    headers: (plain, encoding, asked) => without(right.headers(plain, encoding, asked), name),
  })
}

/** Answers one method in another way. */
function answering(method: string, change: (answered: Answered) => Answered): Change {
  return (right) => ({
    collection: (asked) => {
      const answered = right.collection(asked)
      return asked.method === method ? change(answered) : answered
    },
  })
}

const CACHING: readonly Mutant[] = [
  mutant('no ETag', 'Pages have no ETag.', ['D16'], withoutHeader('ETag')),
  mutant('no ETag on the last page', 'The last page has no ETag.', ['D16'], (right) => ({
    headers: (plain, encoding, asked) => {
      const headers = right.headers(plain, encoding, asked)
      const isLast = asked.path === '/events' && right.requestedPage(asked) >= BigInt(right.lastPage(asked))
      return isLast ? without(headers, 'ETag') : headers
    },
  })),
  mutant('weak ETag', 'ETags are weak.', ['D16'], (right) => ({
    headers: (plain, encoding, asked) => {
      const headers = right.headers(plain, encoding, asked)
      return { ...headers, ETag: `W/${headers['ETag']}` }
    },
    isFresh: (tag, asked) => right.isFresh(tag.replace('W/', ''), asked),
  })),
  mutant('ETag without quotes', 'ETags stand there without double quotes.', ['D16'], (right) => ({
    etag: (plain, encoding, asked) => right.etag(plain, encoding, asked).replaceAll('"', ''),
  })),
  mutant('one ETag for all pages', 'The ETag is that of the collection, on every page.', ['D16'], () => ({
    etag: (_plain, encoding) => `"version-7-${encoding}"`,
  })),
  mutant('one ETag for gzip and plain', 'The packed answer has the ETag of the plain one.', ['D16'], (right) => ({
    etag: (plain, _encoding, asked) => right.etag(plain, 'identity', asked),
  })),
  mutant(
    'ETag that ignores the count',
    'The ETag is made of the items of the page: it stays while item_count grows.',
    ['D16'],
    (right) => {
      let requests = 0
      return {
        answer: (asked) => {
          if (++requests === 30) grow(right)
          return right.answer(asked)
        },
        etag: (plain, encoding, asked) =>
          right.etag(Buffer.from(plain.toString().replace(/^.*"_embedded"/s, '')), encoding, asked),
      }
    },
  ),
  mutant('ETag of the moment', 'Every answer has an ETag of its own.', ['D16', 'C7', 'D13'], () => {
    let turn = 0
    return {
      etag: () => `"${turn++}"`,
    }
  }),
  mutant('never 304', 'If-None-Match is ignored.', ['D16'], () => ({
    isFresh: () => false,
  })),
  mutant(
    '304 only for a single tag',
    'If-None-Match is compared as a text: a list, a weak tag and * give no 304.',
    ['D16'],
    () => ({
      isFresh: (tag, { headers }) => headers['if-none-match'] === tag,
    }),
  ),
  mutant('always 304', 'Any If-None-Match gives 304.', ['D16'], () => ({
    isFresh: (_tag, { headers }) => headers['if-none-match'] !== undefined,
  })),
  mutant('no Cache-Control', 'Pages have no Cache-Control.', ['D16'], withoutHeader('Cache-Control')),
  mutant(
    'cached for an hour',
    'Pages may be kept for an hour without asking.',
    ['D16'],
    withHeaders(() => ({ 'Cache-Control': 'public, max-age=3600' })),
  ),
]

const METHODS: readonly Mutant[] = [
  mutant(
    'HEAD with length 0',
    'HEAD has the length of the body that it does not send.',
    ['D13'],
    answering('HEAD', (answered) => ({ ...answered, body: Buffer.alloc(0) })),
  ),
  mutant(
    'HEAD with another ETag',
    'HEAD has the ETag of an empty body.',
    ['D13'],
    answering('HEAD', (answered) => ({ ...answered, headers: { ...answered.headers, ETag: '"empty"' } })),
  ),
  mutant(
    'HEAD with another type',
    'HEAD has the Content-Type text/plain.',
    ['D13'],
    answering('HEAD', (answered) => ({
      ...answered,
      headers: { ...answered.headers, 'Content-Type': 'text/plain' },
    })),
  ),
  mutant(
    'HEAD is 404',
    'There is no route for HEAD.',
    ['D13'],
    answering('HEAD', (answered) => ({ ...answered, status: 404 })),
  ),
  mutant('OPTIONS is 405', 'OPTIONS is refused.', ['D13'], () => ({
    optionsAnswer: () => {
      throw new Problem(405, 'method-not-allowed', 'The method is OPTIONS.', 'Use GET.')
    },
  })),
  mutant('OPTIONS without Allow', 'OPTIONS does not say which methods there are.', ['D13'], (right) => ({
    optionsAnswer: () => ({ ...right.optionsAnswer(), headers: {} }),
  })),
  mutant('Allow without HEAD', 'OPTIONS names GET alone.', ['D13'], (right) => ({
    optionsAnswer: () => ({ ...right.optionsAnswer(), headers: { Allow: 'GET' } }),
  })),
  mutant(
    '415 without a Content-Type',
    'A GET without a body has to say what type its body has.',
    ['C10', 'C1'],
    (right) => ({
      collection: (asked) => {
        if (asked.headers['content-type'] !== undefined) return right.collection(asked)
        throw new Problem(415, 'unsupported-media-type', 'There is no Content-Type.', 'Send application/json.')
      },
    }),
  ),
  mutant(
    '411 without a Content-Length',
    'A GET without a body has to say how long its body is.',
    ['C10', 'C1'],
    (right) => ({
      collection: (asked) => {
        if (asked.headers['content-length'] !== undefined) return right.collection(asked)
        throw new Problem(411, 'length-required', 'There is no Content-Length.', 'Send one.')
      },
    }),
  ),
]

const TYPES: readonly Mutant[] = [
  mutant('406 for an image', 'A client that asks for HTML or an image gets 406.', ['D12'], (right) => ({
    mediaType: (asked) => {
      if (/json|\*\/\*/.test(asked.headers.accept ?? '*/*')) return right.mediaType(asked)
      throw new Problem(406, 'not-acceptable', `Accept is ${asked.headers.accept}.`, 'Accept JSON.')
    },
  })),
  mutant('HTML for a program', 'Whoever lists text/html gets HTML, browser or not.', ['D12'], (right) => ({
    represent: (document, asked) => {
      if (!asked.headers.accept?.includes('text/html')) return right.represent(document, asked)
      return { status: 200, headers: { 'Content-Type': 'text/html' }, body: Buffer.from('<h1>Events</h1>') }
    },
  })),
  mutant(
    'type text/plain',
    'The Content-Type is text/plain.',
    ['D12'],
    withHeaders(() => ({ 'Content-Type': 'text/plain' })),
  ),
  mutant(
    'only application/json',
    'The Content-Type is application/json, whatever is asked for.',
    ['D12'],
    withHeaders(() => ({ 'Content-Type': 'application/json' })),
  ),
  mutant('other bytes as application/json', 'application/json has a field more.', ['D12'], (right) => ({
    envelope: (page, asked) => {
      const isJson = right.mediaType(asked) === 'application/json'
      return { ...right.envelope(page, asked), ...(isJson && { page }) }
    },
  })),
  mutant('no Vary', 'There is no Vary.', ['D12'], withoutHeader('Vary')),
  mutant(
    'Vary without Accept',
    'Vary names the encoding alone.',
    ['D12'],
    withHeaders(() => ({ Vary: 'Accept-Encoding' })),
  ),
]

const ERRORS: readonly Mutant[] = [
  mutant('errors as HTML', 'Errors are pages for people.', ['D14'], () => ({
    problem: ({ status, message }) => ({
      status,
      headers: { 'Content-Type': 'text/html' },
      body: Buffer.from(`<h1>${message}</h1>`),
    }),
  })),
  mutant('errors as application/json', 'Errors do not have the type of problem details.', ['D14'], (right) => ({
    problem: (problem) => ({ ...right.problem(problem), headers: { 'Content-Type': 'application/json' } }),
  })),
  mutant('no hint', 'Errors do not say what to do.', ['D14'], (right) => ({
    problem: (problem) => {
      const answered = right.problem(problem)
      return { ...answered, body: Buffer.from(answered.body.toString().replace('"hint"', '"help"')) }
    },
  })),
  mutant('detail without the value', 'Errors do not say which value is wrong.', ['D14'], (right) => ({
    invalidPage: () => right.invalidPage('…'),
  })),
  mutant('another status inside', 'The status in a problem is not that of the answer.', ['D14'], (right) => ({
    problem: (problem) => {
      return {
        ...right.problem(new Problem(500, problem.type, problem.message, problem.hint)),
        status: problem.status,
      }
    },
  })),
  mutant('type that does not answer', 'The type of a problem leads to a 404.', ['D14'], (right) => ({
    route: (asked) => {
      if (asked.path.startsWith('/-/')) throw right.notFound(asked.path)
      return right.route(asked)
    },
  })),
  mutant('unknown collections are empty', 'A collection that does not exist is an empty one.', ['D14'], (right) => ({
    answer: (asked) => {
      const answered = right.answer(asked)
      return answered.status === 404 ? right.represent({ item_count: 0, _links: {}, _embedded: {} }, asked) : answered
    },
  })),
]

export const PROTOCOL_MUTANTS: readonly Mutant[] = [...CACHING, ...METHODS, ...TYPES, ...ERRORS]
