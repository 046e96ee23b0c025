/** Keys: the text that names the key fields of a collection, and how the values of several fields make one key (D9). */

const COMMA = ','
const BACKSLASH = '\\'

/** The rule for the text that names the key fields, in words that follow "expected". */
export const KEY_FIELDS_RULE =
  'the name of a field, or several names separated by commas; a comma or a backslash in a name is written \\, or \\\\'

/**
 * The names of the key fields, in their order. Takes any text: a backslash that is no escape stands for itself.
 * `keyFieldsFlaw` tells whether a collection can be created with it.
 */
export function keyFieldNames(keyField: string): string[] {
  const names: string[] = []
  let name = ''
  for (let i = 0; i < keyField.length; i++) {
    if (isEscape(keyField, i)) name += keyField[++i]
    else if (keyField[i] !== COMMA) name += keyField[i]
    else {
      names.push(name)
      name = ''
    }
  }
  return [...names, name]
}

/** The text that names these fields: what `keyFieldNames` reads. */
export function formatKeyFields(names: readonly string[]): string {
  return names.map(escapePart).join(COMMA)
}

/** Why a text cannot name key fields, and what is expected; undefined if it can. Reads well after the text and a colon. */
export function keyFieldsFlaw(keyField: string): string | undefined {
  const flaw = flawOf(keyField)
  return flaw === undefined ? undefined : `${flaw}; expected ${KEY_FIELDS_RULE}`
}

function flawOf(keyField: string): string | undefined {
  const names = keyFieldNames(keyField)
  const twice = names.find((name, index) => names.indexOf(name) < index)
  if (names.includes('')) return 'a name is empty'
  if (twice !== undefined) return `the field ${JSON.stringify(twice)} is named twice`
  if (!keyField.isWellFormed()) return 'no item can have a field with a lone surrogate in its name'
  // There is only one way to write each list, so what is left is a backslash that is no escape.
  return formatKeyFields(names) === keyField ? undefined : 'a backslash comes before neither a comma nor a backslash'
}

/** The key of an item whose key fields have these values: of one, the value itself. Different values give different keys. */
export function joinKey(values: readonly string[]): string {
  const [only] = values
  return values.length === 1 && only !== undefined ? only : formatKeyFields(values)
}

function escapePart(text: string): string {
  return text.replace(/[\\,]/g, '\\$&')
}

function isEscape(text: string, at: number): boolean {
  return text[at] === BACKSLASH && (text[at + 1] === COMMA || text[at + 1] === BACKSLASH)
}
