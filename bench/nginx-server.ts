/** nginx with one worker and sendfile, serving one file. */

import { spawnSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { RunningServer } from './child-process.ts'
import { freePort, startAtPort } from './port.ts'
import { LOAD_TOOL } from './read-load.ts'
import type { Workspace } from './workspace.ts'

/** Whether there is one, and a load that it cannot meet: autocannon asks for less, and its own rate would be taken for nginx's. */
export const CAN_MEASURE_NGINX = spawnSync('nginx', ['-v']).error === undefined && LOAD_TOOL === 'wrk'

/** The file is reached as `/page`. With gzip it is sent as it was compressed before. */
export async function startNginx(
  workspace: Workspace,
  body: Uint8Array,
  encoding: 'identity' | 'gzip' = 'identity',
): Promise<RunningServer> {
  const directory = workspace.path('nginx')
  await mkdir(directory, { recursive: true })
  await writeFile(join(directory, 'page'), body)
  if (encoding === 'gzip') await writeFile(join(directory, 'page.gz'), gzipSync(body))
  const port = await freePort()
  const file = join(directory, 'nginx.conf')
  await writeFile(file, configuration(directory, port))
  return startAtPort(['nginx', '-c', file, '-g', 'daemon off;'], { port, path: '/page', signal: workspace.signal })
}

function configuration(directory: string, port: number): string {
  return `worker_processes 1; pid ${directory}/pid; error_log ${directory}/errors; user root;
events { worker_connections 64; }
http {
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000; etag on; gzip_static on;
  types { } default_type application/hal+json;
  client_body_temp_path ${directory}; proxy_temp_path ${directory}; fastcgi_temp_path ${directory};
  uwsgi_temp_path ${directory}; scgi_temp_path ${directory};
  server { listen 127.0.0.1:${port}; root ${directory}; }
}
`
}
