/** The certificate and its key, from the files of `--tls-cert` and `--tls-key`. */

import { createPrivateKey } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import type { Listening, TlsPair } from '../../../service/node/listen.ts'
import { Failure } from '../../failure.ts'
import { certificateIn, readPem, tried } from '../../files/pem-file.ts'
import type { SettingValues } from '../../setting-values.ts'
import type { Log } from './log.ts'

/** Undefined without TLS. Throws a Failure that says what is wrong with the files, and warns of what only clients will refuse. */
export function readTlsFiles(settings: SettingValues, warn: Log['warn'] = () => {}): TlsPair | undefined {
  const [certFile, keyFile] = [settings.get('tlsCert'), settings.get('tlsKey')]
  if (certFile === undefined && keyFile === undefined) return undefined
  if (certFile === undefined || keyFile === undefined)
    throw new Failure(
      2,
      'For TLS Reams needs both --tls-cert and --tls-key: give the other one too, or leave both out.',
    )
  const pair = { cert: readPem(certFile, '--tls-cert'), key: readPem(keyFile, '--tls-key') }
  const certificate = certificateIn(pair.cert, certFile, '--tls-cert')
  if (pair.key.includes('ENCRYPTED'))
    throw new Failure(
      2,
      `The key in ${keyFile} is encrypted, and Reams has no passphrase for it. Decrypt it, for example: openssl pkey -in ${keyFile} -out plain.key; and let only the service read it.`,
    )
  const key = tried(
    () => createPrivateKey(pair.key),
    `${keyFile} is not a private key in PEM form. --tls-key takes a file that begins with -----BEGIN PRIVATE KEY-----.`,
  )
  if (!certificate.checkPrivateKey(key))
    throw new Failure(
      2,
      `The certificate in ${certFile} does not fit the key in ${keyFile}. Give the two that were made together.`,
    )
  tried(() => createSecureContext(pair), `TLS cannot use the certificate in ${certFile} with the key in ${keyFile}.`)
  if (certificate.validToDate < new Date())
    warn(
      `The certificate in ${certFile} expired on ${certificate.validTo}. Clients will refuse it: renew it, then send SIGHUP.`,
    )
  return pair
}

/** Reads the files again. If they are wrong, the server keeps what it has, and the result is false. */
export function renewTls(settings: SettingValues, server: Pick<Listening, 'renewTls'>, log: Log): boolean {
  try {
    const pair = readTlsFiles(settings, log.warn)
    if (pair !== undefined) server.renewTls(pair)
    return true
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    log.warn(`${error.message} The server goes on with the certificate that it has.`)
    return false
  }
}
