/** Mutants that err in HTTP: caching, methods, media types and errors. */

import { type Answered, type Asked, CorrectServer, Problem } from '../correct-server.ts'
import { grow, type Mutant, without } from './mutant.ts'

type TagArguments = Parameters<CorrectServer['etag']>
type HeaderArguments = Parameters<CorrectServer['headers']>

/** A server that adds headers to its answers, or changes some. */
function withHeaders(change: (asked: Asked) => Record<string, string>): Mutant['Server'] {
  return class extends CorrectServer {
    override headers(...[plain, encoding, asked]: HeaderArguments) {
      return { ...super.headers(plain, encoding, asked), ...change(asked) }
    }
  }
}

function withoutHeader(name: string): Mutant['Server'] {
  return class extends CorrectServer {
    override headers(...[plain, encoding, asked]: HeaderArguments) {
      return without(super.headers(plain, encoding, asked), name) as Record<string, string>
    }
  }
}

/** A server that answers one method otherwise. */
function answering(method: string, change: (answered: Answered) => Answered): Mutant['Server'] {
  return class extends CorrectServer {
    override collection(asked: Asked) {
      const answered = super.collection(asked)
      return asked.method === method ? change(answered) : answered
    }
  }
}

const CACHING: readonly Mutant[] = [
  { name: 'no ETag', defect: 'Pages have no ETag.', caughtBy: 'D16', Server: withoutHeader('ETag') },
  {
    name: 'no ETag on the last page',
    defect: 'The last page has no ETag.',
    caughtBy: 'D16',
    Server: class extends CorrectServer {
      override headers(...[plain, encoding, asked]: HeaderArguments) {
        const headers = super.headers(plain, encoding, asked)
        const isLast = asked.path === '/events' && this.requestedPage(asked) >= BigInt(this.lastPage(asked))
        return isLast ? (without(headers, 'ETag') as Record<string, string>) : headers
      }
    },
  },
  {
    name: 'weak ETag',
    defect: 'ETags are weak.',
    caughtBy: 'D16',
    Server: class extends CorrectServer {
      override headers(...[plain, encoding, asked]: HeaderArguments) {
        const headers = super.headers(plain, encoding, asked)
        return { ...headers, ETag: `W/${headers['ETag']}` }
      }

      override isFresh(tag: string, asked: Asked) {
        return super.isFresh(tag.replace('W/', ''), asked)
      }
    },
  },
  {
    name: 'ETag without quotes',
    defect: 'ETags stand there without double quotes.',
    caughtBy: 'D16',
    Server: class extends CorrectServer {
      override etag(...[plain, encoding, asked]: TagArguments) {
        return super.etag(plain, encoding, asked).replaceAll('"', '')
      }
    },
  },
  {
    name: 'one ETag for all pages',
    defect: 'The ETag is that of the collection, on every page.',
    caughtBy: 'D16',
    Server: class extends CorrectServer {
      override etag(_plain: Buffer, encoding: string) {
        return `"version-7-${encoding}"`
      }
    },
  },
  {
    name: 'one ETag for gzip and plain',
    defect: 'The packed answer has the ETag of the plain one.',
    caughtBy: 'D16',
    Server: class extends CorrectServer {
      override etag(...[plain, , asked]: TagArguments) {
        return super.etag(plain, 'identity', asked)
      }
    },
  },
  {
    name: 'ETag that ignores the count',
    defect: 'The ETag is made of the items of the page: it stays while item_count grows.',
    caughtBy: 'D16',
    Server: class extends CorrectServer {
      #requests = 0

      override answer(asked: Asked) {
        if (++this.#requests === 30) grow(this)
        return super.answer(asked)
      }

      override etag(...[plain, encoding, asked]: TagArguments) {
        return super.etag(Buffer.from(plain.toString().replace(/^.*"_embedded"/s, '')), encoding, asked)
      }
    },
  },
  {
    name: 'ETag of the moment',
    defect: 'Every answer has an ETag of its own.',
    caughtBy: 'D16',
    also: ['C7', 'D13'],
    Server: class extends CorrectServer {
      #turn = 0

      override etag() {
        return `"${this.#turn++}"`
      }
    },
  },
  {
    name: 'never 304',
    defect: 'If-None-Match is ignored.',
    caughtBy: 'D16',
    Server: class extends CorrectServer {
      override isFresh() {
        return false
      }
    },
  },
  {
    name: '304 only for a single tag',
    defect: 'If-None-Match is compared as a text: a list, a weak tag and * give no 304.',
    caughtBy: 'D16',
    Server: class extends CorrectServer {
      override isFresh(tag: string, { headers }: Asked) {
        return headers['if-none-match'] === tag
      }
    },
  },
  {
    name: 'always 304',
    defect: 'Any If-None-Match gives 304.',
    caughtBy: 'D16',
    Server: class extends CorrectServer {
      override isFresh(_tag: string, { headers }: Asked) {
        return headers['if-none-match'] !== undefined
      }
    },
  },
  {
    name: 'no Cache-Control',
    defect: 'Pages have no Cache-Control.',
    caughtBy: 'D16',
    Server: withoutHeader('Cache-Control'),
  },
  {
    name: 'cached for an hour',
    defect: 'Pages may be kept for an hour without asking.',
    caughtBy: 'D16',
    Server: withHeaders(() => ({ 'Cache-Control': 'public, max-age=3600' })),
  },
]

const METHODS: readonly Mutant[] = [
  {
    name: 'HEAD with length 0',
    defect: 'HEAD has the length of the body that it does not send.',
    caughtBy: 'D13',
    Server: answering('HEAD', (answered) => ({ ...answered, body: Buffer.alloc(0) })),
  },
  {
    name: 'HEAD with another ETag',
    defect: 'HEAD has the ETag of an empty body.',
    caughtBy: 'D13',
    Server: answering('HEAD', (answered) => ({ ...answered, headers: { ...answered.headers, ETag: '"empty"' } })),
  },
  {
    name: 'HEAD with another type',
    defect: 'HEAD has the Content-Type text/plain.',
    caughtBy: 'D13',
    Server: answering('HEAD', (answered) => ({
      ...answered,
      headers: { ...answered.headers, 'Content-Type': 'text/plain' },
    })),
  },
  {
    name: 'HEAD is 404',
    defect: 'There is no route for HEAD.',
    caughtBy: 'D13',
    Server: answering('HEAD', (answered) => ({ ...answered, status: 404 })),
  },
  {
    name: 'OPTIONS is 405',
    defect: 'OPTIONS is refused.',
    caughtBy: 'D13',
    Server: class extends CorrectServer {
      override optionsAnswer(): Answered {
        throw new Problem(405, 'method-not-allowed', 'The method is OPTIONS.', 'Use GET.')
      }
    },
  },
  {
    name: 'OPTIONS without Allow',
    defect: 'OPTIONS does not say which methods there are.',
    caughtBy: 'D13',
    Server: class extends CorrectServer {
      override optionsAnswer() {
        return { ...super.optionsAnswer(), headers: {} }
      }
    },
  },
  {
    name: 'Allow without HEAD',
    defect: 'OPTIONS names GET alone.',
    caughtBy: 'D13',
    Server: class extends CorrectServer {
      override optionsAnswer() {
        return { ...super.optionsAnswer(), headers: { Allow: 'GET' } }
      }
    },
  },
  {
    name: '415 without a Content-Type',
    defect: 'A GET without a body has to say what type its body has.',
    caughtBy: 'C10',
    also: ['C1'],
    Server: class extends CorrectServer {
      override collection(asked: Asked) {
        if (asked.headers['content-type'] !== undefined) return super.collection(asked)
        throw new Problem(415, 'unsupported-media-type', 'There is no Content-Type.', 'Send application/json.')
      }
    },
  },
  {
    name: '411 without a Content-Length',
    defect: 'A GET without a body has to say how long its body is.',
    caughtBy: 'C10',
    also: ['C1'],
    Server: class extends CorrectServer {
      override collection(asked: Asked) {
        if (asked.headers['content-length'] !== undefined) return super.collection(asked)
        throw new Problem(411, 'length-required', 'There is no Content-Length.', 'Send one.')
      }
    },
  },
]

const TYPES: readonly Mutant[] = [
  {
    name: '406 for an image',
    defect: 'A client that asks for HTML or an image gets 406.',
    caughtBy: 'D12',
    Server: class extends CorrectServer {
      override mediaType(asked: Asked) {
        if (/json|\*\/\*/.test(asked.headers.accept ?? '*/*')) return super.mediaType(asked)
        throw new Problem(406, 'not-acceptable', `Accept is ${asked.headers.accept}.`, 'Accept JSON.')
      }
    },
  },
  {
    name: 'HTML for a program',
    defect: 'Whoever lists text/html gets HTML, browser or not.',
    caughtBy: 'D12',
    Server: class extends CorrectServer {
      override represent(document: unknown, asked: Asked) {
        if (!asked.headers.accept?.includes('text/html')) return super.represent(document, asked)
        return { status: 200, headers: { 'Content-Type': 'text/html' }, body: Buffer.from('<h1>Events</h1>') }
      }
    },
  },
  {
    name: 'type text/plain',
    defect: 'The Content-Type is text/plain.',
    caughtBy: 'D12',
    Server: withHeaders(() => ({ 'Content-Type': 'text/plain' })),
  },
  {
    name: 'only application/json',
    defect: 'The Content-Type is application/json, whatever is asked for.',
    caughtBy: 'D12',
    Server: withHeaders(() => ({ 'Content-Type': 'application/json' })),
  },
  {
    name: 'other bytes as application/json',
    defect: 'application/json has a field more.',
    caughtBy: 'D12',
    Server: class extends CorrectServer {
      override envelope(page: number, asked: Asked) {
        const isJson = this.mediaType(asked) === 'application/json'
        return { ...super.envelope(page, asked), ...(isJson && { page }) }
      }
    },
  },
  { name: 'no Vary', defect: 'There is no Vary.', caughtBy: 'D12', Server: withoutHeader('Vary') },
  {
    name: 'Vary without Accept',
    defect: 'Vary names the encoding alone.',
    caughtBy: 'D12',
    Server: withHeaders(() => ({ Vary: 'Accept-Encoding' })),
  },
]

const ERRORS: readonly Mutant[] = [
  {
    name: 'errors as HTML',
    defect: 'Errors are pages for people.',
    caughtBy: 'D14',
    Server: class extends CorrectServer {
      override problem({ status, message }: Problem) {
        return { status, headers: { 'Content-Type': 'text/html' }, body: Buffer.from(`<h1>${message}</h1>`) }
      }
    },
  },
  {
    name: 'errors as application/json',
    defect: 'Errors do not have the type of problem details.',
    caughtBy: 'D14',
    Server: class extends CorrectServer {
      override problem(problem: Problem) {
        return { ...super.problem(problem), headers: { 'Content-Type': 'application/json' } }
      }
    },
  },
  {
    name: 'no hint',
    defect: 'Errors do not say what to do.',
    caughtBy: 'D14',
    Server: class extends CorrectServer {
      override problem(problem: Problem) {
        const answered = super.problem(problem)
        return { ...answered, body: Buffer.from(answered.body.toString().replace('"hint"', '"help"')) }
      }
    },
  },
  {
    name: 'detail without the value',
    defect: 'Errors do not say which value is wrong.',
    caughtBy: 'D14',
    Server: class extends CorrectServer {
      override invalidPage() {
        return super.invalidPage('…')
      }
    },
  },
  {
    name: 'another status inside',
    defect: 'The status in a problem is not that of the answer.',
    caughtBy: 'D14',
    Server: class extends CorrectServer {
      override problem(problem: Problem) {
        return {
          ...super.problem(new Problem(500, problem.type, problem.message, problem.hint)),
          status: problem.status,
        }
      }
    },
  },
  {
    name: 'type that does not answer',
    defect: 'The type of a problem leads to a 404.',
    caughtBy: 'D14',
    Server: class extends CorrectServer {
      override route(asked: Asked) {
        if (asked.path.startsWith('/-/')) throw this.notFound(asked.path)
        return super.route(asked)
      }
    },
  },
  {
    name: 'unknown collections are empty',
    defect: 'A collection that does not exist is an empty one.',
    caughtBy: 'D14',
    Server: class extends CorrectServer {
      override answer(asked: Asked) {
        const answered = super.answer(asked)
        return answered.status === 404 ? super.represent({ item_count: 0, _links: {}, _embedded: {} }, asked) : answered
      }
    },
  },
]

export const PROTOCOL_MUTANTS: readonly Mutant[] = [...CACHING, ...METHODS, ...TYPES, ...ERRORS]
