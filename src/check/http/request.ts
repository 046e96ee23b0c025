/** One request that the checker sends, and the `curl` line with which a reader can repeat it. */

export interface HttpRequest {
  readonly method: 'GET' | 'HEAD' | 'OPTIONS'
  readonly url: string
  /** Beyond those that every request carries. */
  readonly headers: Readonly<Record<string, string>>
}

/** The URL is normalized, so that no control characters of a server's link are left in it. */
export function createRequest(
  url: string,
  headers: HttpRequest['headers'] = {},
  method: HttpRequest['method'] = 'GET',
): HttpRequest {
  return { method, url: new URL(url).href, headers }
}

/** A line for a shell. It never contains the token itself. */
export function curlLine({ method, url, headers }: HttpRequest, hasToken = false): string {
  const words = ['curl', '-si', ...METHOD_FLAGS[method]]
  // To curl, brackets and braces in a URL are patterns unless it is told otherwise.
  if (/[[\]{}]/.test(url)) words.push('-g')
  if (hasToken) words.push('-H', '"Authorization: Bearer $REAMS_TOKEN"')
  // A value can come from the server, as an ETag does, with characters that a terminal would act upon.
  for (const [name, value] of Object.entries(headers))
    words.push('-H', quote(`${name}: ${value.replace(/[^\x20-\x7e]/g, '?')}`))
  return [...words, quote(url)].join(' ')
}

const METHOD_FLAGS: Readonly<Record<HttpRequest['method'], readonly string[]>> = {
  GET: [],
  HEAD: ['--head'],
  OPTIONS: ['-X', 'OPTIONS'],
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
