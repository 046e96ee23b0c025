/** For tests of which `npm test` runs a sample, and a `*.long.ts` file all. */

let whole = false

export function isWhole(): boolean {
  return whole
}

/** Runs test files of this folder as a whole. */
export async function runWhole(...files: readonly string[]): Promise<void> {
  whole = true
  for (const file of files) await import(`./${file}`)
}
