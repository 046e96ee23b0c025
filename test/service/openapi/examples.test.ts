import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fill, numbered } from '../open-service.ts'
import { sharedWriteServer, type WriteServer } from '../write-server.ts'
import { Description, type Part, partIn } from './description.ts'

const TITLE = ',"title":"Dance: Gardens"}'

/** What the examples are about: `events`, with 502 items. */
async function fillEvents({ store }: WriteServer): Promise<void> {
  await fill(
    store,
    'events',
    numbered(502).map((item) => item.replace('}', TITLE)),
  )
}

async function fillNothing(): Promise<void> {}

const fillEmpty = ({ store }: WriteServer) => fill(store, 'events', [])
const fillWhole = ({ store }: WriteServer) =>
  fill(store, 'events', ['{"id":501}', '{"id":502}'], { isPaginated: false })

type Fill = (server: WriteServer) => Promise<void>

/** Each example, what the store holds, and the request that is answered so. */
const EXAMPLES: readonly [name: string, path: string, status: number, fill: Fill, method: string, target: string][] = [
  ['entry', '/', 200, fillEvents, 'GET', '/'],
  ['ok', '/-/health', 200, fillNothing, 'GET', '/-/health'],
  ['invalid-page', '/-/problems/{problem}', 200, fillNothing, 'GET', '/-/problems/invalid-page'],
  ['last', '/{collection}', 200, fillEvents, 'GET', '/events?page=2'],
  ['empty', '/{collection}', 200, fillEmpty, 'GET', '/events'],
  ['whole', '/events', 200, fillWhole, 'GET', '/events'],
  ['item', '/{collection}/{key}', 200, fillEvents, 'GET', '/events/7'],
  ['appended', '/{collection}', 201, fillEvents, 'POST', '/events'],
  ['collection', '/{collection}', 201, fillNothing, 'PUT', '/events'],
  ['collection', '/{collection}', 200, fillEmpty, 'PUT', '/events'],
  ['replaced', '/{collection}/{key}', 200, fillEvents, 'PUT', '/events/7'],
  ['created', '/{collection}/{key}', 201, fillEvents, 'PUT', '/events/503'],
]

/** The examples of a body, by name. */
function examplesIn(content: Part): Part {
  return partIn(partIn(content, 'application/json'), 'examples')
}

/** All that an example cannot know. */
function atOneTime(name: string, value: unknown): unknown {
  return name === 'changed_at' ? Number.isNaN(Date.parse(String(value))) : value
}

describe('the examples of the description', () => {
  const shared = sharedWriteServer(fillNothing)
  for (const [name, path, status, fillStore, method, target] of EXAMPLES)
    it(`are real: ${name}, the answer to ${method} ${target}, with status ${status}`, async () => {
      const server = shared()
      for (const { name: old } of await server.store.collections()) await server.store.drop(old)
      await fillStore(server)
      const description = new Description((await server.ask('GET', '/-/openapi.json')).text)
      const operation = partIn(partIn(partIn(description.document, 'paths'), path), method.toLowerCase())
      const bodies =
        operation['requestBody'] === undefined ? {} : examplesIn(partIn(partIn(operation, 'requestBody'), 'content'))
      const [body] = Object.values(bodies)
        .map((each) => (each as Part)['value'])
        .toReversed()
      const sent = target === '/events/503' ? { id: 503 } : body
      const answer = await server.ask(method, target, sent === undefined ? undefined : JSON.stringify(sent))
      assert.equal(answer.status, status, answer.text)
      const shown = partIn(examplesIn(description.contentOf(operation, status)), name)
      assert.deepEqual(JSON.parse(answer.text, atOneTime), JSON.parse(JSON.stringify(shown['value']), atOneTime))
    })
})
