/** The parts of a request's URL, cut from its text: as it came over the wire, nothing decoded. */

/**
 * The path that is routed. A request whose path begins with the path of the base URL has that taken off; any other is
 * routed as it is, because a proxy or the app around us took it off already.
 */
export function routedPath(url: string, basePath: string): string {
  const path = url.slice(pathStart(url), pathEnd(url))
  if (basePath === '' || !path.startsWith(basePath)) return path
  const rest = path.slice(basePath.length)
  if (rest === '') return '/'
  return rest.startsWith('/') ? rest : path
}

/** The values of a query parameter, in order. A `+` stays a plus sign, so that messages show what was sent. */
export function queryValues(url: string, name: string): string[] {
  const end = pathEnd(url)
  if (url[end] !== '?') return []
  const [query = ''] = url.slice(end + 1).split('#', 1)
  // Nearly always, and much faster.
  if (query.startsWith(`${name}=`) && /^\w+$/.test(query.slice(name.length + 1))) return [query.slice(name.length + 1)]
  return new URLSearchParams(query.replaceAll('+', '%2B')).getAll(name)
}

/** The first slash behind the host, which is at least one character long. */
function pathStart(url: string): number {
  return url.indexOf('/', 'https://'.length)
}

function pathEnd(url: string): number {
  const end = url.search(/[?#]/)
  return end === -1 ? url.length : end
}
