/** Files in PEM form: certificates and keys. */

import { X509Certificate } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { Failure, isSystemError } from '../failure.ts'

/** Reads such a file. `flag` is the one that named it. */
export function readPem(file: string, flag: string): string {
  try {
    // A pipe could be read only once, and a read that waits for it would keep signals out.
    if (!statSync(file).isFile()) throw new Failure(2, `${file} is not a file. Give a file after ${flag}.`)
    return readFileSync(file, 'latin1')
  } catch (error) {
    if (!isSystemError(error)) throw error
    const advice = `Check the path after ${flag}, and that this user may read it.`
    throw new Failure(2, `Cannot read ${file}: ${error.code}. ${advice}`, { cause: error })
  }
}

/** The first certificate in the text of a file. */
export function certificateIn(pem: string, file: string, flag: string): X509Certificate {
  return tried(
    () => new X509Certificate(pem),
    `${file} is not a certificate in PEM form. ${flag} takes a file that begins with -----BEGIN CERTIFICATE-----.`,
  )
}

/** Throws a Failure with the message if the use fails. */
export function tried<T>(use: () => T, message: string): T {
  try {
    return use()
  } catch (error) {
    throw new Failure(2, message, { cause: error })
  }
}
