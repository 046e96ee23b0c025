/** The man page, reams(1): all commands and settings in roff, with the macros of the package `man`. */

import { COMMANDS, createProgram, EXAMPLES } from '../src/cli/program.ts'
import type { CliCommand, Example } from '../src/cli/setting-values.ts'
import { longFlag, OTHER_VARIABLES, SETTINGS, type Setting } from '../src/cli/settings.ts'
import {
  commandsWith,
  defaultOf,
  EXIT_STATUSES,
  exampleLines,
  generalDescription,
  OUTPUT_RULE,
  valueText,
} from './command-text.ts'

const FILES: readonly (readonly [path: string, purpose: string])[] = [
  ['reams.db', 'The store, in the directory in which the program is started, unless `--store` names another.'],
  ['data/reams.db', 'The store of `reams serve --sample`.'],
  ['~/.pgpass', 'Passwords for PostgreSQL, as psql(1) reads them.'],
  ['~/.pg_service.conf', 'Services of PostgreSQL, for `PGSERVICE` and `postgres:///?service=…`.'],
  ['~/.my.cnf', 'User, password and host for MySQL, as mysql(1) reads them.'],
]

export function manPage(): string {
  const description = generalDescription()
  const lines = [
    '.\\" Written by "npm run docs"; edit the code, not this file.',
    `.TH REAMS 1 "" "reams ${createProgram(async () => {}).version()}" "User Commands"`,
    // A flag that is broken at the end of a line cannot be searched for.
    '.nh',
    '.ad l',
    '.SH NAME',
    // One line without a full stop, as whatis(1) takes it.
    `reams \\- ${roff(description.charAt(0).toLowerCase() + description.slice(1).replace(/\.$/, ''))}`,
    '.SH SYNOPSIS',
    ...verbatim(['reams COMMAND [options]', 'reams help [COMMAND]', 'reams --version']),
    '.SH DESCRIPTION',
    roff(`${description} ${OUTPUT_RULE}`),
    '.PP',
    roff('`reams COMMAND --help` prints what this page says about a command.'),
    '.SH COMMANDS',
    ...COMMANDS.flatMap(commandSection),
    '.SH OPTIONS',
    roff(
      'Every option can also be set with a variable of the environment. The option wins over the variable, the variable over the default; an empty variable counts as none. A command ignores variables for options that it does not have.',
    ),
    ...Object.values(SETTINGS).flatMap(settingEntry),
    '.SH ENVIRONMENT',
    roff('Every option has its variable: see OPTIONS. Two more are not options:'),
    ...Object.entries(OTHER_VARIABLES).flatMap(([variable, purpose]) => entry(variable, purpose)),
    '.SH EXIT STATUS',
    ...EXIT_STATUSES.flatMap(([status, meaning]) => entry(status, meaning)),
    '.SH FILES',
    ...FILES.flatMap(([path, purpose]) => entry(path, purpose)),
    '.SH EXAMPLES',
    ...exampleBlock(EXAMPLES),
  ]
  return `${lines.join('\n')}\n`
}

function commandSection({ name, usage, description, operands, settings, examples }: CliCommand): string[] {
  const flags = settings.map((each) => `\`${longFlag(SETTINGS[each])}\``)
  return [
    `.SS reams ${name}`,
    ...verbatim(`reams ${name} ${usage}`.split('\n')),
    '.PP',
    roff(description.replaceAll('\n', ' ')),
    ...operands.flatMap(({ syntax, description: text }) => entry(syntax, text)),
    ...(flags.length === 0 ? [] : ['.PP', roff(`Options: ${flags.join(', ')}`)]),
    '.PP',
    ...exampleBlock(examples),
  ]
}

function settingEntry(setting: Setting): string[] {
  const value = defaultOf(setting)
  const lines = [
    setting.description,
    `value: ${valueText(setting)}`,
    ...(value === '' ? [] : [`default: ${value}`]),
    `variable: \`${setting.variable}\``,
    `commands: ${commandsWith(setting).join(', ')}`,
  ]
  return entry(setting.flag, lines.join('\n'))
}

function exampleBlock(examples: readonly Example[]): string[] {
  return ['.RS 4', ...verbatim(exampleLines(examples).split('\n')), '.RE']
}

/** A term, and indented below it what it means: a line for each line of the text. */
function entry(term: string, text: string): string[] {
  const lines = text.split('\n').map((line) => roff(line))
  return ['.TP', `\\fB${roff(term)}\\fR`, lines.join('\n.br\n')]
}

function verbatim(lines: readonly string[]): string[] {
  return ['.nf', ...lines.map((line) => roff(line.trim())), '.fi']
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\e',
  '-': '\\-',
  "'": '\\(aq',
  '`': '',
  '^': '\\(ha',
  '~': '\\(ti',
  '…': '...',
}

/** Text as roff prints it: code in bold, and nothing at the beginning of a line that would be a request. */
function roff(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part) => {
      const escaped = part.replace(/[\\\-'`^~…]/g, (character) => ESCAPES[character] ?? character)
      return part.startsWith('`') ? `\\fB${escaped}\\fR` : escaped
    })
    .join('')
    .replace(/^\./, '\\&.')
}
