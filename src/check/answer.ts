/** One answer of the server, read within limits: its status, headers, and what rules need of its body. */

import { createHash } from 'node:crypto'
import { shorten } from '../contract/message-text.ts'
import type { Ask } from './ask.ts'
import { type Document, documentOf } from './document.ts'
import { RawResponse } from './http-fetch.ts'

export interface Answer {
  readonly ask: Ask
  /** 0 where no answer came, or none that could be read to its end; `fault` then says why. */
  readonly status: number
  readonly statusText: string
  readonly headers: Headers
  /** Bytes of the body, without its content encoding. */
  readonly byteLength: number
  /** SHA-256 of these bytes. */
  readonly digest: string
  /** Undefined where the body is not JSON. */
  readonly document: Document | undefined
  /** How the body begins, for messages. */
  readonly beginning: string
  readonly fault: string | undefined
}

/** A body that is larger than the checker reads, or that cannot be unpacked. */
export class UnreadableBody extends Error {
  override readonly name = 'UnreadableBody'
}

/** `bytes` is the body, unpacked: what `bodyOf` read. */
export function answerOf(ask: Ask, response: Response, bytes: Uint8Array, collectionName: string): Answer {
  const text = textOf(bytes)
  return {
    ask,
    status: response.status,
    statusText: response.statusText,
    headers: response.headers,
    byteLength: bytes.length,
    digest: createHash('sha256').update(bytes).digest('base64'),
    document: text === undefined ? undefined : readDocument(text, collectionName),
    beginning: shorten(text ?? `(not UTF-8) ${new TextDecoder().decode(bytes.subarray(0, 400))}`),
    fault: undefined,
  }
}

/** In place of an answer that never came. */
export function noAnswer(ask: Ask, fault: string): Answer {
  const nothing = { statusText: '', headers: new Headers(), byteLength: 0, digest: '', beginning: '' }
  return { ...nothing, ask, status: 0, document: undefined, fault }
}

/** Undefined for what is not UTF-8. A byte-order mark stays, and makes the text no JSON. */
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
    // Not JSON, or nested deeper than anything that is meant to be read.
    return undefined
  }
}

/** The body without its content encoding. Some implementations of fetch have unpacked it already, others leave that to us. */
export async function bodyOf(response: Response, answerBytes: number, signal: AbortSignal): Promise<Body> {
  if (response.status === 0) throw new UnreadableBody('a Response that stands for an error, without a status')
  if (response.bodyUsed) throw new UnreadableBody('a Response whose body was read before')
  const packed = await collect(response.body, answerBytes, signal)
  const encoding = response.headers.get('content-encoding')?.trim().toLowerCase() ?? ''
  if (packed.length === 0 || encoding === '' || encoding === 'identity') return packed
  const hasGzipMark = packed[0] === 0x1f && packed[1] === 0x8b
  if (!hasGzipMark && !(response instanceof RawResponse)) return packed
  if (encoding !== 'gzip' && encoding !== 'x-gzip')
    throw new UnreadableBody(`a body with Content-Encoding: ${shorten(encoding)}, which was not asked for`)
  return unpack(packed, answerBytes, signal)
}

type Body = Uint8Array<ArrayBuffer>

async function unpack(packed: Body, answerBytes: number, signal: AbortSignal): Promise<Body> {
  try {
    const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))
    return await collect(unpacked, answerBytes, signal)
  } catch (error) {
    if (error instanceof UnreadableBody) throw error
    throw new UnreadableBody('a body with Content-Encoding: gzip that cannot be unpacked', { cause: error })
  }
}

async function collect(body: ReadableStream<Uint8Array> | null, mostBytes: number, signal: AbortSignal): Promise<Body> {
  const reader = body?.getReader()
  const cancel = () => void reader?.cancel().catch(() => {})
  signal.addEventListener('abort', cancel)
  try {
    const chunks: Uint8Array[] = []
    let length = 0
    for (let step = await reader?.read(); step?.done === false; step = await reader?.read()) {
      if (!ArrayBuffer.isView(step.value)) throw new UnreadableBody('a body that is not made of bytes')
      length += step.value.length
      if (length > mostBytes) throw new UnreadableBody(`a body of more than ${mostBytes} bytes`)
      chunks.push(step.value)
    }
    return joined(chunks, length)
  } catch (error) {
    cancel()
    throw error
  } finally {
    signal.removeEventListener('abort', cancel)
  }
}

function joined(chunks: readonly Uint8Array[], length: number): Body {
  const whole = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}

/** What came, in a few words: "404 Not Found", "no answer within 10 s". */
export function statusLine({ status, statusText, fault, headers }: Answer): string {
  if (fault !== undefined) return fault
  const location = status >= 300 && status < 400 ? headers.get('location') : null
  return `${status}${statusText === '' ? '' : ` ${shorten(statusText)}`}${location === null ? '' : ` to ${shorten(location)}`}`
}
