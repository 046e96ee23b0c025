/** Imports of rows as the collection `events`, each into a directory of its own. */

import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import { storedLines } from '../cli/items.ts'
import { type CliResult, runInside, temporaryFilesOf, workDirectory } from '../cli/run-cli.ts'

type Variables = Readonly<Record<string, string>>

interface Source {
  /** Behind `import events`, unless the words say otherwise. */
  readonly from: () => readonly string[]
  readonly variables: () => Variables
  /** No message contains any of these. */
  readonly secrets: () => readonly string[]
}

/** For SQL: `"a", "Odd ""b"""`. */
export const quotedNames = (names: readonly string[], quote = '"'): string =>
  names.map((name) => `${quote}${name.replaceAll(quote, quote + quote)}${quote}`).join(', ')

export function importing({ from, variables, secrets }: Source) {
  const runIn = async (directory: string, words: readonly string[], given = variables()): Promise<CliResult> => {
    const result = await runInside(words, { in: directory, variables: { HOME: directory, ...given } })
    for (const secret of secrets()) assert.ok(!`${result.stdout}${result.stderr}`.includes(secret), result.stderr)
    return result
  }
  const imports = async (t: TestContext, ...words: string[]) => {
    const directory = workDirectory(t)
    const source = words.includes('--from') ? [] : from()
    return { directory, ...(await runIn(directory, ['import', 'events', ...source, ...words])) }
  }
  return {
    runIn,
    imports,
    /** The items, where all went well. */
    async imported(t: TestContext, ...words: string[]): Promise<string> {
      const { directory, status, stderr } = await imports(t, ...words)
      assert.deepEqual([stderr, status], ['', 0])
      return storedLines(directory, 'events')
    },
    /** Runs an import that must fail and leave nothing. Gives its output. */
    async refused(t: TestContext, ...words: string[]): Promise<CliResult> {
      const { directory, ...result } = await imports(t, ...words)
      assert.deepEqual(readdirSync(temporaryFilesOf(directory)), [])
      assert.ok(!existsSync(join(directory, 'reams.db')))
      return result
    },
  }
}

/** Words that are refused, and what is said, by the status that they end with. */
export type Wrong = Readonly<Record<number, readonly (readonly [words: readonly string[], says: RegExp])[]>>

/** Tests that each is refused, with its words as the title, and leaves the rows of the source alone. */
export function itRefuses(
  wrong: Wrong,
  refused: (t: TestContext, ...words: string[]) => Promise<CliResult>,
  countEvents?: () => Promise<number>,
): void {
  for (const [status, cases] of Object.entries(wrong))
    for (const [words, says] of cases)
      it(words.join(' '), async (t) => {
        const count = await countEvents?.()
        const result = await refused(t, ...words)
        assert.match(result.stderr, says)
        assert.equal(result.status, Number(status))
        assert.equal(await countEvents?.(), count)
      })
}

/** The words for the table `events`, in an order. */
export const inOrder = (order: string): string[] => ['--table', 'events', '--order', order]

export const query = (text: string, ...words: string[]): string[] => ['--query', text, ...words]

/** The values of a field of all items. */
export const valuesOf = (lines: string, field: string): unknown[] =>
  lines
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line)[field])

export const sumOf = (lines: string, field: string): number =>
  valuesOf(lines, field).reduce((sum: number, value) => sum + Number(value), 0)
