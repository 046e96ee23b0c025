/** Shared by all commands that talk to a server: the collection URL, the bearer token and the trusted certificates. */

import { createReadStream } from 'node:fs'
import { isLoopbackName, urlFlaw } from '../contract/url.ts'
import { Failure, isSystemError } from './failure.ts'
import { certificateIn, readPem } from './files/pem-file.ts'

/** More than any server takes in a header. */
const MAX_BYTES = 16 * 1024

/** A file wins over the variable REAMS_TOKEN, whose value is the token itself. Empty counts as none there. */
export async function readToken(file: string | undefined, variable: string | undefined): Promise<string | undefined> {
  if (file !== undefined) return checkToken(await readStart(file), file)
  return variable === undefined || variable === '' ? undefined : checkToken(variable, 'REAMS_TOKEN')
}

/** The certificates that `--ca` adds to the trusted ones, as text. */
export function readCa(file: string | undefined): string | undefined {
  if (file === undefined) return undefined
  const pem = readPem(file, '--ca')
  certificateIn(pem, file, '--ca')
  return pem
}

async function readStart(file: string): Promise<string> {
  const chunks: Buffer[] = []
  try {
    // Not to its end, because some files have none; and as a stream, because of pipes.
    for await (const chunk of createReadStream(file, { end: MAX_BYTES })) chunks.push(chunk)
  } catch (error) {
    if (isSystemError(error)) throw new Failure(2, cannotRead(file, error.code), { cause: error })
    throw error
  }
  return Buffer.concat(chunks).toString()
}

function cannotRead(file: string, code: string): string {
  if (code === 'ENOENT' || code === 'ENOTDIR') return `There is no token file ${file}. Check the path.`
  if (code === 'EISDIR') return `${file} is a directory: expected a file with a token.`
  if (code === 'EACCES' || code === 'EPERM') return `The token file ${file} cannot be read: no permission.`
  return `The token file ${file} cannot be read: ${code}.`
}

/** No message shows what was read. */
function checkToken(text: string, place: string): string {
  const token = text.trim()
  const problem = problemOf(token)
  if (problem !== undefined) throw new Failure(2, `${place} ${problem}: expected a token and nothing else.`)
  return token
}

function problemOf(token: string): string | undefined {
  if (token === '') return 'is empty'
  if (token.length > MAX_BYTES) return `holds more than ${MAX_BYTES} bytes`
  if (/[\r\n]/.test(token)) return 'has more than one line'
  return /[^\x21-\x7e]/.test(token) ? 'contains spaces or other characters that no token has' : undefined
}

/** `name` is the last part of the path. On this machine (`isLoopback`) packing costs more than it saves. */
export function parseTarget(text: string): { url: URL; name: string; isLoopback: boolean } {
  const flaw = urlFlaw(text)
  if (flaw !== undefined) throw new Failure(2, `${flaw}. ${EXAMPLE}${flaw.includes('password') ? TOKEN : ''}`)
  const url = new URL(text)
  const name = url.pathname.slice(url.pathname.lastIndexOf('/') + 1)
  if (name === '') throw new Failure(2, `${url.href} ends with a slash and names no collection. ${EXAMPLE}`)
  return { url, name, isLoopback: /^127(\.\d+){3}$/.test(url.hostname) || isLoopbackName(url.hostname) }
}

const TOKEN = ' A token comes from --token-file or REAMS_TOKEN.'
const EXAMPLE = 'Expected the URL of a collection, such as https://api.example.com/events.'
