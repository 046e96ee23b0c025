/** Writes the reference pages that follow from tables in the code: commands, settings and problems. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CliCommand, Example } from '../src/cli/command.ts'
import { COMMANDS } from '../src/cli/commands.ts'
import { createProgram } from '../src/cli/program.ts'
import { SETTINGS, type Setting, settingsOf } from '../src/cli/settings.ts'
import { PROBLEMS, type ProblemKind } from '../src/contract/problem.ts'

const ROOT = join(import.meta.dirname, '..')

const GENERATED = '<!-- Written by `npm run docs`; edit the tables in src/, not this file. -->'

/** Every generated page: its path in the repository, and its text. */
export function referencePages(): ReadonlyMap<string, string> {
  return new Map([
    ['docs/reference/commands.md', commandsPage()],
    ['docs/reference/settings.md', settingsPage()],
    ['docs/reference/problems.md', problemsPage()],
  ])
}

if (import.meta.main) for (const [path, text] of referencePages()) writeFileSync(join(ROOT, path), text)

function commandsPage(): string {
  return page('Commands', [
    `${generalDescription()} In a clone the program is \`./bin/reams\`; the package installs it as \`reams\`.`,
    table(
      ['command', ''],
      COMMANDS.map(({ name, summary }) => [`[\`reams ${name}\`](#reams-${name})`, summary]),
    ),
    'Results go to stdout; progress, logs and messages go to stderr. A progress bar shows on a terminal only.',
    table(
      ['exit status', 'means'],
      [
        ['0', 'done'],
        ['1', 'the answer is no: a bad item, a setting that differs, a store that is not sound'],
        ['2', 'used wrongly: a flag, a name, a path'],
        ['3', 'could not tell: a disk, a lock, a store that is damaged or newer than the program'],
        ['129, 130, 143', 'interrupted by SIGHUP, SIGINT or SIGTERM; `serve` ends with 0 on each'],
      ],
    ),
    'Every option has a variable in the environment, and the option wins: see [settings](settings.md).',
    ...COMMANDS.flatMap(commandSection),
  ])
}

/** The first line of `reams --help` after its usage, so that both say the same. */
function generalDescription(): string {
  return createProgram({ version: '', commands: [], onCommand: async () => {} }).description()
}

function commandSection(command: CliCommand): string[] {
  const { name, usage, description, operands, examples } = command
  const settings = settingsOf(name)
  return [
    `## reams ${name}`,
    fenced(`reams ${name} ${usage}`, 'text'),
    description.replaceAll('\n', ' '),
    ...(operands.length === 0
      ? []
      : [
          table(
            ['operand', ''],
            operands.map(({ syntax, description: text }) => [`\`${syntax}\``, text]),
          ),
        ]),
    table(
      ['option', '', 'default'],
      settings.map(([, setting]) => [flagLink(setting), setting.description, defaultOf(setting)]),
    ),
    fenced(exampleLines(examples), 'sh'),
  ]
}

function exampleLines(examples: readonly Example[]): string {
  const width = Math.max(...examples.map(({ line }) => line.length))
  return examples.map(({ line, purpose }) => `${line.padEnd(width)}  # ${purpose}`).join('\n')
}

function settingsPage(): string {
  const settings: [string, Setting<unknown>][] = Object.entries(SETTINGS)
  return page('Settings', [
    'Every setting is a flag and a variable of the environment. The flag wins over the variable, the variable over the default; an empty variable counts as none. A command takes no notice of variables for settings that it does not have.',
    table(
      ['flag', 'variable', 'default', ''],
      settings.map(([, setting]) => [
        flagLink(setting, ''),
        `\`${setting.variable}\``,
        defaultOf(setting),
        setting.description,
      ]),
    ),
    '`REAMS_DEBUG=1` also shows where in the program an error arose.',
    ...settings.flatMap(([, setting]) => settingSection(setting)),
  ])
}

function settingSection(setting: Setting<unknown>): string[] {
  const { flag, variable, description, kind, commands } = setting
  const isSwitch = !flag.includes('<')
  const entries = [
    `value: ${isSwitch ? `none as a flag; in the environment ${kind.allowed}` : kind.allowed}`,
    ...(defaultOf(setting) === '' ? [] : [`default: ${defaultOf(setting)}`]),
    `commands: ${commands.map((name) => `[\`${name}\`](commands.md#reams-${name})`).join(', ')}`,
  ]
  return [
    `## ${longFlag(setting)}`,
    `\`${flag}\` or \`${variable}=…\`: ${description}.`,
    entries.map((entry) => `- ${entry}`).join('\n'),
  ]
}

function problemsPage(): string {
  const problems: [string, ProblemKind][] = Object.entries(PROBLEMS)
  return page('Problems', [
    'Every error is an [RFC 9457](https://www.rfc-editor.org/rfc/rfc9457) document of the type `application/problem+json`. Its `type` is `{base_url}/-/problems/<name>`, where a `GET` answers with what this page says. `detail` names the value at fault, `hint` what to do.',
    table(
      ['name', 'status', 'title'],
      problems.map(([name, { status, title }]) => [`[\`${name}\`](#${name})`, String(status), title]),
    ),
    ...problems.flatMap(([name, { status, title, description, hint }]) => [
      `## ${name}`,
      `**${status}** ${title}.`,
      description,
      `Hint: ${hint}`,
    ]),
  ])
}

function page(title: string, blocks: readonly string[]): string {
  return `${[GENERATED, `# ${title}`, ...blocks].join('\n\n')}\n`
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows]
  return lines.map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`).join('\n')
}

function fenced(text: string, language: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``
}

function flagLink(setting: Setting<unknown>, file = 'settings.md'): string {
  return `[\`${setting.flag}\`](${file}#${longFlag(setting)})`
}

/** `--output` of `-o, --output <file>`. */
function longFlag({ flag }: Setting<unknown>): string {
  return /--[a-z-]+/.exec(flag)?.[0] ?? flag
}

function defaultOf(setting: Setting<unknown>): string {
  return setting.default === undefined || setting.default === false ? '' : `\`${setting.default}\``
}
