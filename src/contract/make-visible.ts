/** A text that does nothing to a terminal, and hides nothing. */

/** Writes out what a terminal would act upon or not show: control, format and separator characters, lone surrogates. */
export function makeVisible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0
    return (
      NAMED_CONTROLS[character] ?? `\\u${code > 0xffff ? `{${code.toString(16)}}` : code.toString(16).padStart(4, '0')}`
    )
  })
}

const NAMED_CONTROLS: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r' }
