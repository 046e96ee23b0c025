import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { fencesOf } from '../markdown.ts'
import { assertShown } from '../shown.ts'
import { eventLines } from './items.ts'
import { MAIN, startServer, workDirectory } from './run-cli.ts'

const PAGE = new URL('../../docs/how-to/write-over-http.md', import.meta.url)

describe('the page about writing over HTTP', () => {
  it('shows commands that work, in their order, and what they print', async (t) => {
    const directory = workDirectory(t)
    writeFileSync(join(directory, 'events.ndjson'), eventLines(3))
    writeFileSync(join(directory, 'new.ndjson.gz'), gzipSync(eventLines(3, 10)))
    const shell = shellIn(directory)
    let url = ''
    let printed = ''
    for (const { language, text, line } of fencesOf(readFileSync(PAGE, 'utf8'))) {
      if (text.startsWith('Authorization: ')) {
        const token = readFileSync(join(directory, 'token.txt'), 'utf8')
        writeFileSync(join(directory, 'auth.txt'), text.replace('reams_…\n', token))
      } else if (language === 'sh') {
        printed = ''
        for (const command of text.trimEnd().split('\n')) {
          if (command.startsWith('reams serve'))
            url = (await startServer(t, ['--store', 'my.db'], { in: directory })).url
          else printed += shell(withTag(command.replaceAll('http://127.0.0.1:8080', url), shell))
        }
      } else assertShown(text, printed, `the block at line ${line}`)
    }
    assert.equal(shell('reams export events --store my.db'), `${eventLines(3)}{"id":4711}\n${eventLines(3, 10)}`)
    assert.match(shell(`curl -s ${url}/venues`), /There is no collection/)
  })
})

/** Runs commands in the directory, with `reams` as it would be installed. An answer that is an error is one for `curl` too. */
function shellIn(directory: string): (command: string) => string {
  const bin = join(directory, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'reams'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`)
  chmodSync(join(bin, 'reams'), 0o755)
  const env = { PATH: `${bin}:${process.env['PATH']}` }
  return (command) =>
    execFileSync('sh', ['-c', command.replace(/^curl (?!-s )/, 'curl -sS --fail-with-body ')], {
      cwd: directory,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
}

/** Puts the ETag that the address has now in place of the one left out. */
function withTag(command: string, shell: (command: string) => string): string {
  if (!command.includes('"…"')) return command
  const [, address = ''] = /(http:\S+)/.exec(command) ?? []
  const [, tag = ''] = /^etag: (.*)\r$/im.exec(shell(`curl -s -I ${address}`)) ?? []
  return command.replace('"…"', tag)
}
