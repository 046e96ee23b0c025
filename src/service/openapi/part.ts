/** A part of the description, and how one part names another. */

export type Part = Readonly<Record<string, unknown>>

export function reference(kind: string, name: string): Part {
  return { $ref: `#/components/${kind}/${name}` }
}

export function schema(name: string): Part {
  return reference('schemas', name)
}

/** One example of a body. */
export function example(name: string, value: unknown): Part {
  return { [name]: { value } }
}
