/** Writes a style sheet without its comments and the blanks that mean nothing. Strings stay as they are. */

const PIECES = /\/\*[^]*?\*\/|("(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*')|\s*([{};,>])\s*|([:(])\s+|\s+(\))|\s+/g

/** A blank before a colon or a bracket stays: there it can stand for "a descendant", or part two words. */
export function squeezeCss(source: string): string {
  return source
    .replace(/\/\*[^]*?\*\//g, ' ')
    .replace(PIECES, (_all, text?: string, mark?: string, opening?: string, closing?: string) => {
      return text ?? mark ?? opening ?? closing ?? ' '
    })
    .replace(/;\}/g, '}')
    .trim()
}
