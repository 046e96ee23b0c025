/** Writes a style sheet without its comments and the blanks that mean nothing. Strings stay as they are. */

const BLANK = String.raw`(?:\s|/\*(?:[^*]|\*(?!/))*\*/)`
const STRING = String.raw`"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'`
const PIECES = new RegExp(
  `(${STRING})|${BLANK}*(?:;${BLANK}*)*(\\})${BLANK}*|${BLANK}*([{;,>])${BLANK}*|([:(])${BLANK}+|${BLANK}+(\\))|${BLANK}+`,
  'g',
)

/** A blank before a colon or a bracket stays: there it can stand for "a descendant", or part two words. */
export function squeezeCss(source: string): string {
  return source.replace(PIECES, (_all, ...kept: (string | undefined)[]) => kept.slice(0, 5).find(Boolean) ?? ' ').trim()
}
