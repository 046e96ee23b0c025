/** A report of the checker as JSON. */

import type { Report } from '../../check/index.ts'

/** What a server answered stands in it: characters that a terminal would act upon are written as escapes. */
export function reportJson(report: Report): string {
  const json = JSON.stringify(report, null, 2)
  return json.replace(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from({ length: character.length }, (_, index) => escapeOf(character.charCodeAt(index))).join(''),
  )
}

function escapeOf(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`
}
