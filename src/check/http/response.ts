/** One request of the checker, and its response, read within limits: its status, headers, and what rules need of its body. */

import { createHash } from 'node:crypto'
import { shorten } from '../../contract/message-text.ts'
import { type Document, documentOf } from '../page/document.ts'
import { RawResponse } from './socket-fetch.ts'

export interface HttpResponse {
  readonly request: HttpRequest
  /** 0 if no response came, or none that could be read to its end; `fault` then says why. */
  readonly status: number
  readonly statusText: string
  readonly headers: Headers
  /** Bytes of the body, decompressed. */
  readonly byteLength: number
  /** SHA-256 of these bytes. */
  readonly digest: string
  /** Undefined if the body is not JSON. */
  readonly document: Document | undefined
  /** How the body begins, for messages. */
  readonly beginning: string
  readonly fault: string | undefined
}

/** A body that is larger than the checker reads, or that cannot be decompressed. */
export class UnreadableBody extends Error {
  override readonly name = 'UnreadableBody'
}

/** `bytes` is what `readBody` read. */
export function responseOf(
  request: HttpRequest,
  { status, statusText, headers }: Response,
  bytes: Uint8Array,
  collectionName: string,
): HttpResponse {
  const digest = createHash('sha256').update(bytes).digest('base64')
  const content = contentOf(bytes, digest, collectionName)
  return { request, status, statusText, headers, byteLength: bytes.length, digest, ...content, fault: undefined }
}

type Content = Pick<HttpResponse, 'document' | 'beginning'>

/** Most requests of a check are answered with one of a few pages: each of them is read once. */
const KNOWN = new Map<string, Content>()
const MAX_KNOWN = 16

function contentOf(bytes: Uint8Array, digest: string, collectionName: string): Content {
  const key = `${digest} ${collectionName}`
  const content = KNOWN.get(key) ?? readContent(bytes, collectionName)
  KNOWN.delete(key)
  KNOWN.set(key, content)
  const [oldest] = KNOWN.keys()
  if (KNOWN.size > MAX_KNOWN && oldest !== undefined) KNOWN.delete(oldest)
  return content
}

function readContent(bytes: Uint8Array, collectionName: string): Content {
  const text = textOf(bytes)
  return {
    document: text === undefined ? undefined : readDocument(text, collectionName),
    beginning: shorten(text ?? `(not UTF-8) ${new TextDecoder().decode(bytes.subarray(0, 400))}`),
  }
}

/** In place of a response that never came. */
export function noResponse(request: HttpRequest, fault: string): HttpResponse {
  const nothing = { statusText: '', headers: new Headers(), byteLength: 0, digest: '', beginning: '' }
  return { ...nothing, request, status: 0, document: undefined, fault }
}

/** Undefined for what is not UTF-8. A byte-order mark stays, and makes the text invalid as JSON. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function readDocument(text: string, collectionName: string): Document | undefined {
  try {
    return documentOf(text, collectionName)
  } catch {
    // Not JSON, or nested too deeply to be read.
    return undefined
  }
}

/** The body, decompressed. Some implementations of fetch have done that already, others leave it to us. */
export async function readBody(response: Response, maxBytes: number, signal: AbortSignal): Promise<Bytes> {
  if (response.status === 0) throw new UnreadableBody('a Response that stands for an error, without a status')
  if (response.bodyUsed) throw new UnreadableBody('a Response whose body was read before')
  const body = await collect(response.body, maxBytes, signal)
  const encoding = response.headers.get('content-encoding')?.trim().toLowerCase() ?? ''
  if (body.length === 0 || encoding === '' || encoding === 'identity') return body
  const looksLikeGzip = body[0] === 0x1f && body[1] === 0x8b
  if (!looksLikeGzip && !(response instanceof RawResponse)) return body
  if (encoding !== 'gzip' && encoding !== 'x-gzip')
    throw new UnreadableBody(`a body with Content-Encoding: ${shorten(encoding)}, which was not asked for`)
  try {
    return await collect(new Blob([body]).stream().pipeThrough(new DecompressionStream('gzip')), maxBytes, signal)
  } catch (error) {
    if (error instanceof UnreadableBody) throw error
    throw new UnreadableBody('a body with Content-Encoding: gzip that cannot be decompressed', { cause: error })
  }
}

type Bytes = Uint8Array<ArrayBuffer>

async function collect(body: ReadableStream<Uint8Array> | null, maxBytes: number, signal: AbortSignal): Promise<Bytes> {
  const reader = body?.getReader()
  const cancel = () => void reader?.cancel().catch(() => {})
  signal.addEventListener('abort', cancel)
  try {
    const chunks: Uint8Array[] = []
    let length = 0
    for (let step = await reader?.read(); step?.done === false; step = await reader?.read()) {
      if (!ArrayBuffer.isView(step.value)) throw new UnreadableBody('a body that is not made of bytes')
      length += step.value.length
      if (length > maxBytes) throw new UnreadableBody(`a body of more than ${maxBytes} bytes`)
      chunks.push(step.value)
    }
    return Buffer.concat(chunks, length)
  } catch (error) {
    cancel()
    throw error
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

/** A header as it came, for a message. */
export function headerLine({ headers }: HttpResponse, name: string): string {
  const value = headers.get(name)
  return value === null ? `no ${name}` : `${name}: ${shorten(value)}`
}

/** The result of a request in a few words: "404 Not Found", "no complete response within 10 s". */
export function statusLine({ status, statusText, fault, headers }: HttpResponse): string {
  if (fault !== undefined) return fault
  const location = status >= 300 && status < 400 ? headers.get('location') : null
  return `${status}${statusText === '' ? '' : ` ${shorten(statusText)}`}${location === null ? '' : ` to ${shorten(location)}`}`
}

export interface HttpRequest {
  readonly method: 'GET' | 'HEAD' | 'OPTIONS'
  readonly url: string
  /** Beyond those that every request carries. */
  readonly headers: Readonly<Record<string, string>>
}

/** The URL is normalized, so that no control characters of a server's link are left in it. */
export function createRequest(
  url: string,
  headers: HttpRequest['headers'] = {},
  method: HttpRequest['method'] = 'GET',
): HttpRequest {
  return { method, url: new URL(url).href, headers }
}

/** A line for a shell. It never contains the token itself. */
export function curlLine({ method, url, headers }: HttpRequest, hasToken = false): string {
  const words = ['curl', '-si', ...METHOD_FLAGS[method]]
  // To curl, brackets and braces in a URL are patterns unless it is told otherwise.
  if (/[[\]{}]/.test(url)) words.push('-g')
  if (hasToken) words.push('-H', '"Authorization: Bearer $REAMS_TOKEN"')
  // A value can come from the server, as an ETag does, with characters that a terminal would act upon.
  for (const [name, value] of Object.entries(headers))
    words.push('-H', quote(`${name}: ${value.replace(/[^\x20-\x7e]/g, '?')}`))
  return [...words, quote(url)].join(' ')
}

const METHOD_FLAGS: Readonly<Record<HttpRequest['method'], readonly string[]>> = {
  GET: [],
  HEAD: ['--head'],
  OPTIONS: ['-X', 'OPTIONS'],
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
