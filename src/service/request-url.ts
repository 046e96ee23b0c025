/** The parts of a request's target, cut from its text: as it came over the wire, nothing decoded. */

/**
 * The path that is routed. A request whose path begins with the path of the base URL has that taken off; any other is
 * routed as it is, because a proxy or the app around us took it off already.
 */
export function routedPath(target: string, basePath: string): string {
  const path = target.slice(0, pathEnd(target))
  if (basePath === '' || !path.startsWith(basePath)) return path
  const rest = path.slice(basePath.length)
  if (rest === '') return '/'
  return rest.startsWith('/') ? rest : path
}

/** The values of a query parameter, in order. A `+` stays a plus sign, so that messages show what was sent. */
export function queryValues(target: string, name: string): string[] {
  const end = pathEnd(target)
  if (target[end] !== '?') return []
  const [query = ''] = target.slice(end + 1).split('#', 1)
  // Nearly always, and much faster.
  if (query.startsWith(`${name}=`) && /^\w+$/.test(query.slice(name.length + 1))) return [query.slice(name.length + 1)]
  return new URLSearchParams(query.replaceAll('+', '%2B')).getAll(name)
}

function pathEnd(target: string): number {
  const end = target.search(/[?#]/)
  return end === -1 ? target.length : end
}
