import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { directoryWith, refused, run, storeMaker } from './directory.ts'
import { eventLines, putLines, storedLines } from './items.ts'
import { MAIN } from './run-cli.ts'

const withEvents = storeMaker((directory) => putLines(directory, 'events', eventLines(3)))

it('a replace by nothing is refused with the number of items that would go, unless --allow-empty', async (t) => {
  const directory = await withEvents(t)
  const files = { 'empty.csv': '', 'header.csv': 'a,b\n', 'array.json': '[]', 'blank.ndjson': '\n' }
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(directory, name), text)
    const reason =
      'there are no items, and --replace would remove all 3 items of "events"; if that is wanted, add --allow-empty'
    await refused(directory, `import events ${name} --replace`, 1, `${name}: ${reason}. Nothing was imported.`)
  }
  assert.equal(await storedLines(directory, 'events'), eventLines(3))
  assert.equal((await run(directory, 'import events empty.csv --replace --allow-empty')).status, 0)
  // Now there is nothing to lose.
  const again = await run(directory, 'import events empty.csv --replace')
  assert.match(again.stdout, /the collection now has 0 items/)
})

describe('a drop on a terminal', () => {
  /** Runs it on a terminal, types the answer to its question, and returns what the terminal showed. */
  async function dropWith(directory: string, answer: string, flags = ''): Promise<string> {
    const command = `${process.execPath} ${MAIN} drop events ${flags}`
    const terminal = spawn('script', ['-qc', command, '/dev/null'], { cwd: directory })
    let said = ''
    terminal.stdout.on('data', (chunk) => {
      if (!said.includes('[y/N]') && `${said}${chunk}`.includes('[y/N]')) terminal.stdin.write(answer)
      said += chunk
    })
    await once(terminal, 'close')
    return said
  }

  it('asks, naming the number of items, and drops for a yes only', async (t) => {
    const directory = await withEvents(t)
    const answers = ['\n', 'n\n', 'maybe\n', '\u0004']
    for (const said of await Promise.all(answers.map((answer) => dropWith(directory, answer)))) {
      assert.match(said, /Drop "events" with 3 items\? \[y\/N\] /)
      assert.match(said, /reams: Nothing was dropped\./)
    }
    assert.match(await dropWith(directory, 'y\n'), /events: dropped, with 3 items\./)
  })

  it('does not ask with --yes, and needs it where there is no terminal', async (t) => {
    const directory = await withEvents(t)
    const message = 'Without a terminal to ask on, nothing is dropped. Add --yes to drop "events" with 3 items.'
    for (const input of ['', 'y\n']) await refused(directory, 'drop events', 2, message, { input })
    assert.equal((await dropWith(directory, '', '--yes')).trim(), 'events: dropped, with 3 items.')
  })
})

it('a server that npm started ends when npm is killed, though a shell stands between them', async (t) => {
  const directory = directoryWith(t, { 'a.ndjson': '{}\n' })
  const env = { ...process.env, npm_lifecycle_event: 'start' }
  const script = `"${process.execPath}" "${MAIN}" serve a.ndjson --port 0; :`
  const shell = spawn('sh', ['-c', script], { cwd: directory, env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise((resolve) => shell.stdout.once('close', resolve))
  let said = ''
  shell.stdout.on('data', (chunk) => {
    said += chunk
    if (said.includes('Ctrl-C')) shell.kill('SIGKILL')
  })
  // Its output ends with the last process that holds it: the server.
  await ended
  assert.match(said, /http:/)
})
