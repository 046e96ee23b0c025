/** What the reference pages and the man page both say about commands and settings. */

import { COMMANDS, createProgram } from '../src/cli/program.ts'
import type { Example } from '../src/cli/setting-values.ts'
import { SETTINGS, type Setting } from '../src/cli/settings.ts'

export const OUTPUT_RULE =
  'Results go to stdout; progress, logs and messages go to stderr. A progress bar shows on a terminal only. With `--json` the result is one JSON object on one line; errors stay sentences on stderr.'

export const EXIT_STATUSES: readonly (readonly [status: string, meaning: string])[] = [
  ['0', 'done'],
  ['1', 'the answer is no: a bad item, a setting that differs, a damaged store, a broken contract'],
  ['2', 'wrong usage: a flag, a name, a path, a URL'],
  ['3', 'could not tell: a disk, a lock, a store that is damaged or newer than the program, a server out of reach'],
  ['129, 130, 143', 'interrupted by SIGHUP, SIGINT or SIGTERM; `serve` ends with 0 on each'],
]

/** The first line of `reams --help` after its usage, so that both say the same. */
export function generalDescription(): string {
  return createProgram(async () => {}).description()
}

export function exampleLines(examples: readonly Example[]): string {
  const width = Math.max(...examples.map(({ line }) => line.length))
  return examples.map(({ line, purpose }) => `${line.padEnd(width)}  # ${purpose}`).join('\n')
}

/** The names of the commands that take it. */
export function commandsWith(setting: Setting): string[] {
  return COMMANDS.filter(({ settings }) => settings.some((each) => SETTINGS[each] === setting)).map(({ name }) => name)
}

export function defaultOf(setting: Setting): string {
  if (setting.defaultText !== undefined) return `\`${setting.defaultText}\``
  return setting.default === undefined || setting.default === false ? '' : `\`${setting.default}\``
}

/** What it takes, in words. */
export function valueText({ flag, kind }: Setting): string {
  const isSwitch = !flag.includes('<')
  const again = kind.isList ? '; the flag can also be repeated' : ''
  return `${isSwitch ? `none as a flag; in the environment ${kind.expected}` : kind.expected}${again}`
}
