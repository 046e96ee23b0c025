/** What the system holds of the answers to each client, because the client has not taken it yet. Linux tells. */

import { readFileSync } from 'node:fs'

/** Bytes by the ports of a connection: see `portsOf`. */
export type SendQueues = ReadonlyMap<string, number>

const FILES = ['/proc/net/tcp', '/proc/net/tcp6']

/** Local port, remote port, and bytes not taken, of a connection that is established or half-closed. */
const LINE = /^ *\d+: \w+:(\w{4}) \w+:(\w{4}) 0[18] (\w{8}):/gm

export function portsOf(local: number | undefined, remote: number | undefined): string {
  return `${local} ${remote}`
}

/** With thousands of connections it takes milliseconds. */
export function readSendQueues(): SendQueues {
  const queues = new Map<string, number>()
  for (const file of FILES)
    for (const [, local = '', remote = '', bytes = ''] of textOf(file).matchAll(LINE))
      queues.set(portsOf(Number.parseInt(local, 16), Number.parseInt(remote, 16)), Number.parseInt(bytes, 16))
  return queues
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}
