/** One request that the checker sends, and the `curl` line with which a reader can send it too. */

export interface Ask {
  readonly method: 'GET' | 'HEAD' | 'OPTIONS'
  readonly url: string
  /** Beyond those that every request carries. */
  readonly headers: Readonly<Record<string, string>>
}

export function createAsk(url: string, headers: Ask['headers'] = {}, method: Ask['method'] = 'GET'): Ask {
  return { method, url, headers }
}

/** A line for a shell. The token itself never stands in it. */
export function curlLine({ method, url, headers }: Ask, hasToken = false): string {
  const words = ['curl', '-si', ...METHOD_WORDS[method]]
  if (hasToken) words.push('-H', '"Authorization: Bearer $REAMS_TOKEN"')
  for (const [name, value] of Object.entries(headers)) words.push('-H', quote(`${name}: ${value}`))
  return [...words, quote(url)].join(' ')
}

const METHOD_WORDS: Readonly<Record<Ask['method'], readonly string[]>> = {
  GET: [],
  HEAD: ['--head'],
  OPTIONS: ['-X', 'OPTIONS'],
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
