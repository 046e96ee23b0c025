/** A PostgreSQL whose errors are put into German on their way to the client, as one with `lc_messages = de_DE` would send. */

import { type PostgresServer, startPostgres } from './postgres-server.ts'
import { startProxy } from './tcp-proxy.ts'

const ERROR = 'E'.charCodeAt(0)
const GERMAN: Readonly<Record<string, string>> = { ERROR: 'FEHLER', PANIC: 'PANIK' }

export async function startGermanPostgres(): Promise<PostgresServer> {
  const server = await startPostgres()
  const { hostname, port } = new URL(server.url)
  const proxy = await startProxy(hostname, Number(port), germanAnswers)
  return {
    url: server.url.replace(`:${port}/`, `:${proxy.port}/`),
    async stop() {
      await proxy.close()
      await server.stop()
    },
  }
}

/** A function for the answers on one connection: it holds back what is not yet a whole message. */
function germanAnswers(): (data: Buffer) => Buffer {
  let rest: Buffer = Buffer.alloc(0)
  return (data) => {
    rest = Buffer.concat([rest, data])
    const messages: Buffer[] = []
    while (rest.length >= 5 && rest.length > rest.readUInt32BE(1)) {
      const end = rest.readUInt32BE(1) + 1
      const message = rest.subarray(0, end)
      messages.push(message[0] === ERROR ? translate(message) : message)
      rest = rest.subarray(end)
    }
    return Buffer.concat(messages)
  }
}

/** Fields are a letter and a text: `S` and `M` are severity and message in the language of the server. */
function translate(message: Buffer): Buffer {
  const fields = message.subarray(5, -2).toString().split('\0')
  const german = fields.map((field) => {
    if (field.startsWith('S')) return `S${GERMAN[field.slice(1)] ?? field.slice(1)}`
    return field.startsWith('M') ? 'MDas ging nicht' : field
  })
  const body = Buffer.from(`${german.join('\0')}\0\0`)
  const head = Buffer.alloc(5)
  head[0] = ERROR
  head.writeUInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}
