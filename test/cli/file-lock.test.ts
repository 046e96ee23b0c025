import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { takeLock } from '../../src/cli/file-lock.ts'
import { thisProcess } from '../../src/store/sqlite/running-process.ts'
import { workDirectory } from './run-cli.ts'

describe('the lock beside a file', () => {
  it('is held by one, and free afterwards', (t) => {
    const path = join(workDirectory(t), 'x.lock')
    const held = takeLock(path)
    assert.ok(held)
    assert.equal(takeLock(path), undefined)
    held[Symbol.dispose]()
    const again = takeLock(path)
    assert.ok(again)
    again[Symbol.dispose]()
    assert.equal(existsSync(path), false)
  })

  const onLinux = { skip: process.platform !== 'linux' && 'it looks into /proc' }

  it('is free when its holder was killed, also where nobody has taken note of that', onLinux, async (t) => {
    const directory = workDirectory(t)
    // The shell is replaced by a program that does not look after the child that the shell had.
    const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'inherit'] })
    t.after(() => parent.kill('SIGKILL'))
    const pid = Number(await new Promise((resolve) => parent.stdout.once('data', resolve)))
    const path = join(directory, 'x.lock')
    const here = thisProcess()
    const [birth] = statOf(pid)
      .replace(/^.*\) /s, '')
      .split(' ')
      .slice(19)
    writeFileSync(path, JSON.stringify({ ...here, pid, birth, host: hostname() }))
    writeFileSync(`${path}.${pid}-${here.namespace}.part`, '')
    assert.equal(takeLock(path), undefined)
    process.kill(pid, 'SIGKILL')
    while (!/\) Z /.test(statOf(pid))) await sleep(5)
    const lock = takeLock(path)
    assert.ok(lock)
    lock[Symbol.dispose]()
    assert.deepEqual(
      readdirSync(directory).filter((name) => name.startsWith('x.lock')),
      [],
    )
  })

  const lockOf = (t: TestContext, holder: object): string => {
    const path = join(workDirectory(t), 'x.lock')
    writeFileSync(path, JSON.stringify({ ...thisProcess(), host: hostname(), pid: 999_999_999, ...holder }))
    return path
  }
  const isFree = (path: string): boolean => {
    using lock = takeLock(path)
    return lock !== undefined
  }
  const setAge = (path: string, seconds: number): void => {
    const at = Date.now() / 1000 - seconds
    utimesSync(path, at, at)
  }

  it('is held by a process of another container as long as it is renewed', (t) => {
    const path = lockOf(t, { namespace: '1' })
    for (const seconds of [0, 5, -5]) {
      setAge(path, seconds)
      assert.equal(isFree(path), false)
    }
    for (const seconds of [11, -86_400]) {
      writeFileSync(path, readFileSync(lockOf(t, { namespace: '1' })))
      setAge(path, seconds)
      assert.equal(isFree(path), true)
    }
  })

  it('is renewed by its holder', async (t) => {
    const path = join(workDirectory(t), 'x.lock')
    using _lock = takeLock(path)
    setAge(path, 60)
    while (Date.now() - statSync(path).mtimeMs > 10_000) await sleep(50)
  })

  it('is free when the machine was started again, and held when it is that of another one', (t) => {
    assert.equal(isFree(lockOf(t, { boot: 'another' })), true)
    assert.equal(isFree(lockOf(t, { boot: 'another', host: 'another' })), false)
  })
})

function statOf(pid: number): string {
  return readFileSync(`/proc/${pid}/stat`, 'utf8')
}
