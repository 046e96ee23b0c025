/** Many connections that keep a server busy with nothing: run as `crowd-load.ts PLAN`, and told to stop by SIGTERM. */

import { connect, type Socket } from 'node:net'
import { constants, setPriority } from 'node:os'
import type { CrowdPlan, CrowdResult, Kind } from './crowd.ts'

/** So many open their connections at once, the others after them: 500 large answers begun together would be a flood of its own. */
const COMING_AT_ONCE = 50
/** By then the buffers of the system have taken what they can of the last answers. */
const SETTLE_MS = 500
const SLOW_EVERY_MS = 1_000
/** One of the connections that the server closed is opened again this often, for the same reason. */
const REOPEN_EVERY_MS = 100
const REOPEN_FLOOD_MS = 10
const READ_BYTES = 512
const FLOOD_BYTES = 1 << 16
const ANNOUNCED_BYTES = 1 << 18

const { url, token, connections }: CrowdPlan = JSON.parse(process.argv[2] ?? '{}')
const { hostname, port, host, pathname } = new URL(url)
/** Servers skip it in front of a request. A client that does not read finds out by writing that it was closed. */
const emptyLine = '\r\n'
const get = `GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\n`
const post = `POST ${pathname} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n`

interface Behaviour {
  readonly onConnect?: (socket: Socket) => void
  readonly everySecond?: (socket: Socket) => void
  /** Whether it takes what the server sends. Otherwise it takes the first bytes. */
  readonly isReading?: boolean
  /** It is there when the first bytes of an answer have come, and not when it is connected. */
  readonly isAnswered?: boolean
}

const BEHAVIOURS: Readonly<Record<Kind, Behaviour>> = {
  silent: { isReading: true },
  answered: { onConnect: ask, isReading: true, isAnswered: true },
  'slow reader': {
    onConnect: ask,
    everySecond: (socket) => socket.resume().write(emptyLine),
    isAnswered: true,
  },
  'stopped reader': {
    onConnect: ask,
    everySecond: (socket) => socket.write(emptyLine),
    isAnswered: true,
  },
  'slow writer': {
    onConnect: (socket) =>
      socket.write(`${post}Authorization: Bearer ${token}\r\nContent-Length: ${ANNOUNCED_BYTES}\r\n\r\n{"text":"`),
    everySecond: (socket) => socket.write('a'),
    isReading: true,
  },
  'half a head': {
    onConnect: (socket) => socket.write(`${get}X-Slow: `),
    everySecond: (socket) => socket.write('a'),
    isReading: true,
  },
  'flood of reads': { onConnect: floodWith(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`) },
  'flood of writes': { onConnect: floodWith(`${post}Content-Length: 2\r\n\r\n{}`), isReading: true },
}

const startedAt = performance.now()
const open = new Map<Socket, Behaviour>()
const closed: Kind[] = []
const coming = Object.entries(connections).flatMap(([kind, count]) => Array<Kind>(count).fill(kind as Kind))
let missing = coming.length
let closedByServer = 0

// A real crowd has machines of its own, so this one must not take the cores from the server and from who measures.
setPriority(constants.priority.PRIORITY_LOW)
for (let count = 0; count < COMING_AT_ONCE; count++) startNext()
const timers = [
  setInterval(() => {
    for (const [socket, { everySecond }] of open) everySecond?.(socket)
  }, SLOW_EVERY_MS),
  setInterval(() => {
    const kind = closed.shift()
    if (kind !== undefined) start(kind)
  }, REOPEN_EVERY_MS),
]
process.once('SIGTERM', stop)

function startNext(): void {
  const kind = coming.shift()
  if (kind === undefined) return
  let isThere = false
  start(kind, () => {
    if (isThere) return
    isThere = true
    if (--missing === 0) setTimeout(() => console.log('begun'), SETTLE_MS)
    startNext()
  })
}

/** `onThere` may be called again and again. One that is closed before it is there does not keep the others waiting. */
function start(kind: Kind, onThere = () => {}): void {
  const behaviour = BEHAVIOURS[kind]
  const { isReading = false, isAnswered = false } = behaviour
  const onBytes = () => {
    onThere()
    return isReading
  }
  const socket = connect({
    host: hostname,
    port: Number(port),
    onread: { buffer: Buffer.alloc(READ_BYTES), callback: onBytes },
  })
  socket.once('connect', () => {
    open.set(socket, behaviour)
    behaviour.onConnect?.(socket)
    if (!isAnswered) onThere()
  })
  socket.on('error', () => {})
  socket.once('close', () => {
    open.delete(socket)
    onThere()
    closedByServer++
    if (kind.startsWith('flood')) setTimeout(start, REOPEN_FLOOD_MS, kind)
    else closed.push(kind)
  })
}

function ask(socket: Socket): void {
  socket.write(`${get}\r\n`)
}

function floodWith(request: string): (socket: Socket) => void {
  const chunk = Buffer.from(request.repeat(Math.ceil(FLOOD_BYTES / request.length)))
  return (socket) => {
    const send = () => {
      while (socket.write(chunk));
    }
    socket.on('drain', send)
    send()
  }
}

/** Resets the connections, so that their ports are free at once. */
function stop(): void {
  for (const timer of timers) clearInterval(timer)
  const { user, system } = process.cpuUsage()
  const cores = (user + system) / 1000 / (performance.now() - startedAt)
  const result: CrowdResult = { open: open.size, closedByServer, cores }
  console.log(JSON.stringify(result))
  for (const socket of open.keys()) socket.removeAllListeners('close').resetAndDestroy()
  setImmediate(() => process.exit())
}
