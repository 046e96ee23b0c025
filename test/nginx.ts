/** A real nginx in the foreground, with all its files in a directory, and the configurations that the documentation shows. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fencesOf } from './markdown.ts'

const PAGE = new URL('../docs/how-to/behind-a-proxy.md', import.meta.url)

/** The configurations of the page, in their order. */
export function shownConfigurations(): string[] {
  const fences = fencesOf(readFileSync(PAGE, 'utf8'))
  return fences.filter(({ language }) => language === 'nginx').map(({ text }) => text)
}

/** The lines of the page that keep crawlers out. */
export function robotsLocation(): string {
  return (
    /`(location = \/robots\.txt .*)`/.exec(readFileSync(PAGE, 'utf8'))?.[1] ?? assert.fail('It is not on the page.')
  )
}

interface Nginx extends AsyncDisposable {
  /** What it has logged so far: its errors alone. */
  readonly log: () => string
}

/** Resolves when it answers. `http`: what stands within its `http { … }`, with one `listen ADDRESS;`. */
export async function startNginx(directory: string, http: string): Promise<Nginx> {
  const own = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path tmp/${name};`)
  const file = join(directory, 'nginx.conf')
  const whole = `http {\naccess_log off;\n${own.join('\n')}\n${http}}\n`
  writeFileSync(file, `daemon off;\npid nginx.pid;\nerror_log stderr;\nevents {}\n${whole}`)
  const nginx = spawn('nginx', ['-p', directory, '-e', 'stderr', '-c', file], {
    env: { PATH: `${process.env['PATH']}:/usr/sbin` },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  nginx.stderr.setEncoding('utf8').on('data', (text) => {
    said += text
  })
  const address = /listen (\S+);/.exec(http)?.[1]
  while (nginx.exitCode === null && !(await answers(`http://${address}/`))) await pause(20)
  assert.equal(nginx.exitCode, null, said)
  return {
    log: () => said,
    [Symbol.asyncDispose]: async () => {
      if (nginx.exitCode === null && nginx.kill('SIGTERM')) await once(nginx, 'exit')
    },
  }
}

function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    () => true,
    () => false,
  )
}
