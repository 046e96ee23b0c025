/** Items for the tests of the command line. */

/** NDJSON with `count` items, whose ids go up from `first`. */
export function eventLines(count: number, first = 1): string {
  let lines = ''
  for (let id = first; id < first + count; id++) lines += `{"id":${id},"title":"Event ${id}"}\n`
  return lines
}
