import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { eventLines, putLines } from './items.ts'
import { MAIN, runInside, workDirectory } from './run-cli.ts'

describe('a replace by nothing', () => {
  it('is refused with the number of items that would go, unless --allow-empty', async (t) => {
    const directory = workDirectory(t)
    await putLines(directory, 'events', eventLines(1600))
    for (const [name, text] of [
      ['empty.csv', ''],
      ['header.csv', 'a,b\n'],
      ['array.json', '[]'],
      ['blank.ndjson', '\n'],
    ] as const) {
      writeFileSync(join(directory, name), text)
      const { status, stderr } = await runInside(['import', 'events', name, '--replace'], { in: directory })
      const reason =
        'there are no items, and --replace would remove all 1,600 items of "events"; if that is wanted, add --allow-empty'
      assert.deepEqual([status, stderr], [1, `reams: ${name}: ${reason}. Nothing was imported.\n`])
    }
    const counted = await runInside(['export', 'events'], { in: directory })
    assert.equal(counted.stdout, eventLines(1600))
    const allowed = await runInside(['import', 'events', 'empty.csv', '--replace', '--allow-empty'], { in: directory })
    assert.equal(allowed.status, 0)
    // Now there is nothing to lose.
    const again = await runInside(['import', 'events', 'empty.csv', '--replace'], { in: directory })
    assert.match(again.stdout, /the collection now has 0 items/)
  })
})

describe('a drop on a terminal', () => {
  /** Runs it on a terminal, and answers what it asks. */
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
    const directory = workDirectory(t)
    await putLines(directory, 'events', eventLines(3))
    for (const answer of ['\n', 'n\n', 'maybe\n', '\u0004']) {
      const said = await dropWith(directory, answer)
      assert.match(said, /Drop "events" with 3 items\? \[y\/N\] /)
      assert.match(said, /reams: Nothing was dropped\./)
    }
    assert.match(await dropWith(directory, 'y\n'), /events: dropped, with 3 items\./)
  })

  it('does not ask with --yes, and needs it where there is no terminal', async (t) => {
    const directory = workDirectory(t)
    await putLines(directory, 'events', eventLines(3))
    assert.equal((await dropWith(directory, '', '--yes')).trim(), 'events: dropped, with 3 items.')
    await putLines(directory, 'events', eventLines(3))
    const words = ['drop', 'events']
    for (const input of ['', 'y\n'])
      assert.deepEqual(await runInside(words, { in: directory, input }), {
        status: 2,
        stdout: '',
        stderr: 'reams: Without a terminal to ask on, nothing is dropped. Add --yes to drop "events" with 3 items.\n',
      })
    const { stdout } = await runInside([...words, '--yes'], { in: directory })
    assert.equal(stdout, 'events: dropped, with 3 items.\n')
  })
})

it('a server that npm started ends when npm is killed, though a shell stands between them', async (t) => {
  const directory = workDirectory(t)
  writeFileSync(join(directory, 'a.ndjson'), '{}\n')
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
