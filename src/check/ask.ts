/** One request that the checker sends, and the `curl` line with which a reader can send it too. */

export interface Ask {
  readonly method: 'GET' | 'HEAD' | 'OPTIONS'
  readonly url: string
  /** Beyond those that every request carries. */
  readonly headers: Readonly<Record<string, string>>
}

/** The URL is written as it is sent: whatever a server puts into one, no control characters are left in it. */
export function createAsk(url: string, headers: Ask['headers'] = {}, method: Ask['method'] = 'GET'): Ask {
  return { method, url: new URL(url).href, headers }
}

/** A line for a shell. The token itself never stands in it. */
export function curlLine({ method, url, headers }: Ask, hasToken = false): string {
  const words = ['curl', '-si', ...METHOD_WORDS[method]]
  // Brackets and braces in a URL are patterns to curl, unless it is told otherwise.
  if (/[[\]{}]/.test(url)) words.push('-g')
  if (hasToken) words.push('-H', '"Authorization: Bearer $REAMS_TOKEN"')
  for (const [name, value] of Object.entries(headers)) words.push('-H', quote(`${name}: ${harmless(value)}`))
  return [...words, quote(url)].join(' ')
}

const METHOD_WORDS: Readonly<Record<Ask['method'], readonly string[]>> = {
  GET: [],
  HEAD: ['--head'],
  OPTIONS: ['-X', 'OPTIONS'],
}

/** A value can come from the server, as an ETag does, with characters that a terminal would act upon. */
function harmless(value: string): string {
  return value.replace(/[^\x20-\x7e]/g, '?')
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
