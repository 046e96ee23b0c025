/**
 * Tells how similar texts are to a query, by TF-IDF weights and cosine similarity. A test mostly uses the same words as the code it is
 * about, so this finds the tests that are most likely to fail after a change.
 */

/** How often each word occurs. */
type Words = Map<string, number>

/** Splits camelCase names, and cuts words to six letters so that "timeout" and "timeouts" are the same word. */
function wordsOf(text: string): Words {
  const words: Words = new Map()
  for (const [part] of text.matchAll(/[A-Z]?[a-z]{3,}|[A-Z]{4,}/g)) {
    const word = part.toLowerCase().slice(0, 6)
    words.set(word, (words.get(word) ?? 0) + 1)
  }
  return words
}

/** A score for each named text; a higher one means more similar. */
export function similarities(query: string, texts: ReadonlyMap<string, string>): Map<string, number> {
  const bags = new Map([...texts].map(([name, text]) => [name, wordsOf(text)]))
  const users: Words = new Map()
  for (const bag of bags.values()) for (const word of bag.keys()) users.set(word, (users.get(word) ?? 0) + 1)
  const weigh = (bag: Words): Words =>
    new Map([...bag].map(([word, count]) => [word, Math.log(1 + count) * Math.log(bags.size / (users.get(word) ?? 1))]))
  const wanted = weigh(wordsOf(query))
  const similarity = (bag: Words): number => {
    const weights = weigh(bag)
    let common = 0
    for (const [word, weight] of weights) common += weight * (wanted.get(word) ?? 0)
    return common / (Math.hypot(...weights.values()) || 1)
  }
  return new Map([...bags].map(([name, bag]) => [name, similarity(bag)]))
}
