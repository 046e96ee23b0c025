/** A line of the log as a person reads it, on a terminal. */

import { makeVisible } from '../../../contract/message-text.ts'
import { formatBytes } from '../../output.ts'

/** From the JSON of the line: `14:03:07.120 GET /events 200 0.4 ms 12 KB page=3 cache=hit request_id=…`. */
export function readableLine(json: string): string {
  const { level, time, pid: _pid, msg, ...fields } = JSON.parse(json) as Record<string, unknown>
  const at = String(time).slice('2026-01-01T'.length, -1)
  const isPlain = level === 'info'
  const words = [at, ...(isPlain ? [] : [String(level)]), ...(msg === 'request' ? requestWords(fields) : [String(msg)])]
  const rest = Object.entries(fields).filter(([name]) => msg !== 'request' || !IN_WORDS.includes(name))
  return makeVisible([...words, ...rest.map(([name, value]) => `${name}=${value}`)].join(' '))
}

const IN_WORDS = ['method', 'path', 'status', 'duration_ms', 'bytes', 'route', 'collection']

function requestWords({ method, path, status, duration_ms: durationMs, bytes }: Record<string, unknown>): string[] {
  const duration = `${Number(durationMs).toFixed(1)} ms`
  return [String(method || '-'), String(path || '-'), String(status), duration, formatBytes(Number(bytes))]
}
