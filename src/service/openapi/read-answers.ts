/** The answers to reads of a collection and its items: of any, or of one that is known. */

import { answer, hal, json, seen } from './answers.ts'
import { envelopeExamples, itemExample } from './envelope-examples.ts'
import { KEPT } from './headers.ts'
import { example, type Part, schema } from './part.ts'
import { nameOf, type Place, shownIn } from './place.ts'

/** For the components, under the names that operations refer to. */
export function readAnswers(place: Place): Record<string, Part> {
  return {
    [nameOf(place, 'page')]: seen(place, 'A page, or all of it.', pageContent(place), ...KEPT, 'Content-Encoding'),
    ...(shownIn(place).keyField !== null && {
      [nameOf(place, 'item')]: seen(place, 'The item.', itemContent(place), ...KEPT),
    }),
  }
}

/** The same where a browser gets no HTML either. */
export function pageData(place: Place): Part {
  return answer('A page, or all of it.', pageContent(place), ...KEPT, 'Content-Encoding')
}

export function itemData(place: Place): Part {
  return answer('The item.', itemContent(place), ...KEPT)
}

function pageContent(place: Place): Part {
  const isKnown = place.collection !== undefined
  const envelope = isKnown ? schema(nameOf(place, 'page')) : { oneOf: [schema('Page'), schema('Whole')] }
  return hal(envelope, envelopeExamples(place.baseUrl, shownIn(place)))
}

/** One item, as it is sent and answered. */
export function itemContent(place: Place): Part {
  return json(itemSchema(place), example('item', itemExample(shownIn(place), 7)))
}

export function itemSchema(place: Place): Part {
  return schema(place.collection === undefined ? 'Item' : nameOf(place, 'item'))
}
