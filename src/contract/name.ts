/** Names of collections (D18). */

/** The rule as a regular expression. */
export const NAME_PATTERN = '^[a-z0-9][a-z0-9_.-]{0,63}$'

const NAME = /* @__PURE__ */ new RegExp(NAME_PATTERN)

/** The rule in words, for messages. */
export const NAME_RULE = '1 to 64 of a-z 0-9 _ - . and the first one a letter or a digit'

/** Whether a collection can have that name. */
export function isCollectionName(text: string): boolean {
  return NAME.test(text)
}
