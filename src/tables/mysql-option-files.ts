/** What the option files of MySQL and MariaDB say to clients: ~/.my.cnf and those that come before it. */

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/** The sections that the `mysql` and `mariadb` clients read. */
const GROUPS: readonly string[] = ['client', 'client-server', 'client-mariadb', 'mysql', 'mariadb-client']

/** A file that includes itself has an end. */
const MAX_DEPTH = 10

/** Anybody could have written it. */
const WRITABLE_BY_ALL = 0o002

/** Names with dashes, and their values. What is read later holds. */
export function readOptionFiles(): ReadonlyMap<string, string> {
  const home = process.env['HOME'] ?? homedir()
  const paths = ['/etc/my.cnf', '/etc/mysql/my.cnf', join(home, '.my.cnf')]
  return new Map(paths.flatMap((path) => optionsIn(path, 0)))
}

type Option = readonly [name: string, value: string]

/** Like the clients, does without a file that is not there, may not be read, or can be written by everybody. */
function optionsIn(path: string, depth: number): Option[] {
  try {
    if (depth > MAX_DEPTH || statSync(path).mode & WRITABLE_BY_ALL) return []
    return readLines(readFileSync(path, 'utf8').split('\n'), depth)
  } catch {
    return []
  }
}

function readLines(lines: readonly string[], depth: number): Option[] {
  const options: Option[] = []
  let isRead = false
  for (const line of lines.map((each) => each.trim())) {
    const [, group] = /^\[\s*([^\]]*?)\s*\]/.exec(line) ?? []
    const [, directive, path = ''] = /^!(include|includedir)\s+(.*)$/.exec(line) ?? []
    if (group !== undefined) isRead = GROUPS.includes(group)
    else if (directive !== undefined) options.push(...included(directive, resolve(path), depth + 1))
    else if (isRead && !/^([#;!]|$)/.test(line)) options.push(optionIn(line))
  }
  return options
}

function included(directive: string, path: string, depth: number): Option[] {
  if (directive === 'include') return optionsIn(path, depth)
  const names = readdirSync(path).filter((name) => name.endsWith('.cnf'))
  return names.sort().flatMap((name) => optionsIn(join(path, name), depth))
}

function optionIn(line: string): Option {
  const [, name = '', value = ''] = /^([^=\s#]+)\s*=?\s*(.*)$/.exec(line) ?? []
  return [name.replaceAll('_', '-').replace(/^loose-/, ''), valueIn(value)]
}

const ESCAPES: Readonly<Record<string, string>> = { b: '\b', t: '\t', n: '\n', r: '\r', s: ' ' }

/** A comment may follow it; blanks and a # are part of it within quotes. */
function valueIn(text: string): string {
  const [beforeComment = ''] = /^(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[^#])*/.exec(text) ?? []
  const trimmed = beforeComment.trim()
  const [, , within = trimmed] = /^(['"])(.*)\1$/.exec(trimmed) ?? []
  return within.replace(/\\(.)/g, (whole, letter: string) => {
    return ESCAPES[letter] ?? (/['"\\]/.test(letter) ? letter : whole)
  })
}
