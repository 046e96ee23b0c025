/** Made-up events as NDJSON, about 150 bytes each and the same ones in every run. */

import { open, writeFile } from 'node:fs/promises'
import { createRandom, type Random } from './random.ts'

/** Eight digits for every item, so that early and late pages have the same size. */
const FIRST_ID = 10_000_000
const ITEMS_A_CHUNK = 10_000
const EVENTS_A_LARGE_ITEM = 130
const SEED = 2

const KINDS = ['concert', 'theatre', 'reading', 'lecture', 'workshop', 'festival', 'exhibition', 'film']
const MINUTES = ['00', '15', '30', '45']
const CENTS = ['00', '50', '90']
const WORDS =
  `amber ancient autumn bells between blue border brass bridge bright broken candle canyon carousel cedar circle
  city clear cloud coast copper corner crystal dancing dawn deep delta distant double dream drum dust early east echo eleven
  ember empty evening falling field fire first float forest forgotten fountain four garden ghost glass golden granite green
  harbour harvest heart hidden hollow house hundred island ivory jasmine journey kind lantern last letter light little
  lonely long lost machine maple marble market midnight mirror moon morning mountain moving narrow night north ocean old
  open orange orchard other paper parade passing pearl piano pilot quiet rain red rising river road roof salt sand second
  secret seven shadow shore silent silver sleeping slow small snow song south spring star station stone storm story strange
  street summer sun table thousand three tide timber tower train travel twelve under valley velvet village violet voice
  walking water west white wide wild wind winter wolf wooden yellow young zero`.split(/\s+/)

/** The key of the item on line `index`, counted from 0, in the field `id`. */
export function eventKey(index: number): string {
  return String(FIRST_ID + index)
}

/** The texts of the first events. */
export function eventTexts(count: number): string[] {
  return [...eventChunks(count)].join('').split('\n').slice(0, count)
}

/** Writes `items` events and answers the size of the file. */
export async function writeEvents(path: string, items: number, onChunk: () => void = () => {}): Promise<number> {
  const file = await open(path, 'w')
  let bytes = 0
  try {
    for (const chunk of eventChunks(items)) {
      bytes += (await file.write(Buffer.from(chunk))).bytesWritten
      onChunk()
    }
  } finally {
    await file.close()
  }
  return bytes
}

/** Writes items of some 20 KB each: a page of them is 10 MB. */
export async function writeLargeItems(path: string, items: number): Promise<void> {
  const lines = [...eventChunks(items * EVENTS_A_LARGE_ITEM)].join('').split('\n')
  const item = (_: unknown, index: number) =>
    `{"events":[${lines.slice(index * EVENTS_A_LARGE_ITEM, (index + 1) * EVENTS_A_LARGE_ITEM).join(',')}]}\n`
  await writeFile(path, Array.from({ length: items }, item).join(''))
}

function* eventChunks(items: number): Generator<string> {
  const random = createRandom(SEED)
  const days = daysFrom(Date.UTC(2024, 0, 1), 1_500)
  for (let from = 0; from < items; from += ITEMS_A_CHUNK) {
    const to = Math.min(from + ITEMS_A_CHUNK, items)
    let chunk = ''
    for (let index = from; index < to; index++) chunk += eventLine(index, random, days)
    yield chunk
  }
}

function eventLine(index: number, random: Random, days: readonly string[]): string {
  const startsAt = `${oneOf(days, random)}T${10 + random(14)}:${oneOf(MINUTES, random)}:00Z`
  const price = `${5 + random(120)}.${oneOf(CENTS, random)}`
  const title = titleOf(2 + random(3), random)
  return `{"id":${FIRST_ID + index},"kind":"${oneOf(KINDS, random)}","title":"${title}","venue":${1_000 + random(9_000)},"starts_at":"${startsAt}","price":${price},"seats":${20 + random(1_980)},"online":${random(5) === 0}}\n`
}

function titleOf(words: number, random: Random): string {
  let title = oneOf(WORDS, random)
  for (let count = 1; count < words; count++) title += ` ${oneOf(WORDS, random)}`
  return title
}

function oneOf(choices: readonly string[], random: Random): string {
  return choices[random(choices.length)] as string
}

function daysFrom(start: number, count: number): string[] {
  const dayMs = 24 * 60 * 60 * 1000
  return Array.from({ length: count }, (_, day) => new Date(start + day * dayMs).toISOString().slice(0, 10))
}
