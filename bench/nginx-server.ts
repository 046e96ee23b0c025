/** nginx with one worker and sendfile, serving one file. */

import { spawnSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type RunningServer, startProgram } from './child-process.ts'
import type { Workspace } from './workspace.ts'

export const HAS_NGINX = spawnSync('nginx', ['-v']).error === undefined

/** The file is reached as `/page`. */
export async function startNginx(workspace: Workspace, body: Uint8Array): Promise<RunningServer> {
  const directory = workspace.path('nginx')
  await mkdir(directory, { recursive: true })
  await writeFile(join(directory, 'page'), body)
  const port = await freePort()
  const file = join(directory, 'nginx.conf')
  await writeFile(file, configuration(directory, port))
  const child = startProgram(['nginx', '-c', file, '-g', 'daemon off;'], [], workspace.signal)
  const url = `http://127.0.0.1:${port}`
  while (
    !(await fetch(`${url}/page`).then(
      ({ ok }) => ok,
      () => false,
    ))
  )
    await sleep(50)
  return {
    url,
    pid: child.pid ?? 0,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM')
      await new Promise((resolve) => child.once('close', resolve))
    },
  }
}

function configuration(directory: string, port: number): string {
  return `worker_processes 1; pid ${directory}/pid; error_log ${directory}/errors; user root;
events { worker_connections 64; }
http {
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000; etag on;
  types { } default_type application/hal+json;
  client_body_temp_path ${directory}; proxy_temp_path ${directory}; fastcgi_temp_path ${directory};
  uwsgi_temp_path ${directory}; scgi_temp_path ${directory};
  server { listen 127.0.0.1:${port}; root ${directory}; }
}
`
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      const port = typeof address === 'object' ? (address?.port ?? 0) : 0
      server.close(() => resolve(port))
    })
  })
}
