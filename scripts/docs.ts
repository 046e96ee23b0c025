/** Writes the pages of docs/reference/ that follow from the code, the man page, and the bytes in an explanation. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { COMMANDS } from '../src/cli/program.ts'
import type { CliCommand } from '../src/cli/setting-values.ts'
import { longFlag, OTHER_VARIABLES, SETTINGS, type Setting } from '../src/cli/settings.ts'
import { PROBLEMS, type ProblemKind } from '../src/contract/problem.ts'
import { apiPage } from './api-page.ts'
import {
  commandsWith,
  defaultOf,
  EXIT_STATUSES,
  exampleLines,
  generalDescription,
  OUTPUT_RULE,
  valueText,
} from './command-text.ts'
import { limitsPage } from './limits-page.ts'
import { manPage } from './man-page.ts'
import { mutantsPage } from './mutants.ts'
import { fenced, type Page, table } from './page.ts'
import { withResponseBytes } from './response-bytes.ts'
import { rulesPage } from './rules-page.ts'

const ROOT = join(import.meta.dirname, '..')

const GENERATED = '<!-- Written by `npm run docs`; edit the code, not this file. -->'

const EXPLANATION = 'docs/explanation/how-pages-stay-cheap.md'

/** Every generated page: its path in the repository, and its text. */
export async function generatedPages(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ['docs/reference/commands.md', pageText(commandsPage())],
    ['docs/reference/settings.md', pageText(settingsPage())],
    ['docs/reference/problems.md', pageText(problemsPage())],
    ['docs/reference/rules.md', pageText(rulesPage())],
    ['docs/reference/mutants.md', pageText(mutantsPage())],
    ['docs/reference/api.md', pageText(apiPage())],
    ['docs/reference/limits.md', pageText(limitsPage())],
    ['docs/reference/reams.1', manPage()],
    [EXPLANATION, await withResponseBytes(readFileSync(join(ROOT, EXPLANATION), 'utf8'))],
  ])
}

if (import.meta.main) for (const [path, text] of await generatedPages()) writeFileSync(join(ROOT, path), text)

function commandsPage(): Page {
  return {
    title: 'Commands',
    blocks: [
      `${generalDescription()} In a clone the program is \`./bin/reams\`; the package installs it as \`reams\`.`,
      table(
        ['command', ''],
        COMMANDS.map(({ name, summary }) => [`[\`reams ${name}\`](#${anchorOf(name)})`, summary]),
      ),
      OUTPUT_RULE,
      table(['exit status', 'means'], EXIT_STATUSES),
      'Every option has a variable in the environment, and the option wins: see [settings](settings.md).',
      'The fields of the objects that `--json` prints: see [results as JSON](json.md).',
      'What `reams check` tries, and its reports: see [rules](rules.md).',
      ...COMMANDS.flatMap(commandSection),
    ],
  }
}

function anchorOf(command: string): string {
  return `reams-${command.replaceAll(' ', '-')}`
}

function commandSection(command: CliCommand): string[] {
  const { name, usage, description, operands, settings, descriptions = {}, examples } = command
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
    ...(settings.length === 0
      ? []
      : [
          table(
            ['option', '', 'default'],
            settings.map((each) => {
              const setting: Setting = SETTINGS[each]
              return [flagLink(setting), descriptions[each] ?? setting.description, defaultOf(setting)]
            }),
          ),
        ]),
    fenced(exampleLines(examples), 'sh'),
  ]
}

function settingsPage(): Page {
  const settings: [string, Setting][] = Object.entries(SETTINGS)
  return {
    title: 'Settings',
    blocks: [
      'Every setting is a flag and a variable of the environment. The flag wins over the variable, the variable over the default; an empty variable counts as none. A command ignores variables for settings that it does not have.',
      table(
        ['flag', 'variable', 'default', ''],
        settings.map(([, setting]) => [
          flagLink(setting, ''),
          `\`${setting.variable}\``,
          defaultOf(setting),
          setting.description,
        ]),
      ),
      'Two more variables are not settings:',
      Object.entries(OTHER_VARIABLES)
        .map(([variable, purpose]) => `- \`${variable}\`: ${purpose}`)
        .join('\n'),
      'And these belong to others: `PGUSER`, `PGPASSWORD`, `PGHOST`, `PGHOSTADDR`, `PGPORT`, `PGDATABASE`, `PGSSLMODE` and its sisters, or a service that `PGSERVICE` names, fill in what the URL of [a database in PostgreSQL](../how-to/postgres.md) leaves out; `NODE_EXTRA_CA_CERTS` names a file with the CA of your own certificate; `TMPDIR` is where `reams serve FILE…` puts its temporary store; `NODE_COMPILE_CACHE` is where Node.js caches compiled code, in a clone `node_modules/.cache/reams`.',
      ...settings.flatMap(([, setting]) => settingSection(setting)),
    ],
  }
}

function settingSection(setting: Setting): string[] {
  const { flag, variable, description } = setting
  const entries = [
    `value: ${valueText(setting)}`,
    ...(defaultOf(setting) === '' ? [] : [`default: ${defaultOf(setting)}`]),
    `commands: ${commandsWith(setting)
      .map((name) => `[\`${name}\`](commands.md#${anchorOf(name)})`)
      .join(', ')}`,
  ]
  return [
    `## ${settingTitle(setting)}`,
    `\`${flag}\` or \`${variable}=…\`: ${description}.`,
    entries.map((entry) => `- ${entry}`).join('\n'),
  ]
}

function problemsPage(): Page {
  const problems: [string, ProblemKind][] = Object.entries(PROBLEMS)
  return {
    title: 'Problems',
    blocks: [
      'Every error is an [RFC 9457](https://www.rfc-editor.org/rfc/rfc9457) document of the type `application/problem+json`. Its `type` is `{base_url}/-/problems/<name>`, where a `GET` answers with what this page says. `detail` names the offending value, `hint` says what to do.',
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
    ],
  }
}

function pageText({ title, blocks }: Page): string {
  return `${[GENERATED, `# ${title}`, ...blocks].join('\n\n')}\n`
}

function flagLink(setting: Setting, file = 'settings.md'): string {
  return `[\`${setting.flag}\`](${file}#${settingTitle(setting).replaceAll(',', '').replaceAll(' ', '-')})`
}

/** The flag, with its commands where another setting has the same one. */
function settingTitle(setting: Setting): string {
  const settings: Setting[] = Object.values(SETTINGS)
  const isShared = settings.some((each) => each !== setting && longFlag(each) === longFlag(setting))
  return isShared ? `${longFlag(setting)} of ${commandsWith(setting).join(', ')}` : longFlag(setting)
}
