/** What Linux reports about the connections of this process in /proc. Other systems have no such files. */

import { readFileSync } from 'node:fs'

/** The name of a connection in `readSendQueues`. */
export function portsOf(local: number | undefined, remote: number | undefined): string {
  return `${local} ${remote}`
}

const QUEUE_FILES = ['/proc/net/tcp', '/proc/net/tcp6']

/** Local port, remote port, and unsent bytes, of a connection that is established or half-closed. */
const QUEUE_LINE = /^ *\d+: \w+:(\w{4}) \w+:(\w{4}) 0[18] (\w{8}):/gm

/**
 * The bytes that the kernel still holds for each client, by ports. With thousands of connections reading them takes
 * milliseconds.
 */
export function readSendQueues(): ReadonlyMap<string, number> {
  const queues = new Map<string, number>()
  for (const file of QUEUE_FILES)
    for (const [, local = '', remote = '', bytes = ''] of procFile(file).matchAll(QUEUE_LINE))
      queues.set(portsOf(Number.parseInt(local, 16), Number.parseInt(remote, 16)), Number.parseInt(bytes, 16))
  return queues
}

/** File descriptors left for the store and its threads, or for connections to PostgreSQL. */
const OTHER_FILES = 200

/** How many client connections the process can hold and still open what its store needs. Undefined without /proc. */
export function maxConnections(): number | undefined {
  const [, softLimit] = /^Max open files +(\d+)/m.exec(procFile('/proc/self/limits')) ?? []
  if (softLimit === undefined) return undefined
  return Math.max(Number(softLimit) - OTHER_FILES, Math.floor(Number(softLimit) / 4))
}

/** '' if it does not exist. */
function procFile(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
