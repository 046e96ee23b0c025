/** A change of a collection, as an item of its changes has it and as a line of a PATCH takes it (D23, D24). */

/** `version` is that of the state that the commit of the change led to. Where the collection has no key, there is none. */
export function putText(key: string | undefined, version: number, item: string): string {
  return `{"op":"put",${keyText(key)}"version":${version},"item":${item}}`
}

/** The item with that key is gone. */
export function deleteText(key: string | undefined, version: number): string {
  return `{"op":"delete",${keyText(key)}"version":${version}}`
}

/** The collection is empty then, and a put of each item that it got instead follows. */
export function resetText(version: number): string {
  return `{"op":"reset","version":${version}}`
}

function keyText(key: string | undefined): string {
  return key === undefined ? '' : `"key":${JSON.stringify(key)},`
}
