import assert from 'node:assert/strict'
import { type ExecFileException, execFile } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import { buildExecutable } from '../scripts/build-executable.ts'
import { eventLines } from './cli/items.ts'
import { runCli, workDirectory } from './cli/run-cli.ts'
import { DEBOOTSTRAP, lackOf, PODMAN } from './faults/needs.ts'
import { runShellPage } from './shell-page.ts'
import { bootMachine, PATH, SYSTEMD_MACHINE } from './systemd-machine.ts'

const ROOT = join(import.meta.dirname, '..')
const DEBOOTSTRAP_MS = 600_000

/** For a sandbox: no control groups, and no network but that of the machine. */
const CONTAINERS = `[containers]
cgroups = "disabled"
netns = "host"
[engine]
cgroup_manager = "cgroupfs"
`

const COMPRESSED = 'reams-98.76.54-linux-x64.xz'

describe('the page about containers', () => {
  it('shows commands that work with a real podman, in their order: build, run, back up, stop, upgrade', async (t) => {
    const lack = await lackOf([SYSTEMD_MACHINE])
    if (lack !== undefined) return t.skip(lack)
    const missing = await lackOf([PODMAN, DEBOOTSTRAP])
    if (missing !== undefined) return t.skip(missing)
    const directory = workDirectory(t)
    await buildExecutable(join(directory, 'dist'))
    writeFileSync(join(directory, 'dist', COMPRESSED), 'what a release may have put there')
    const lackOfBase = await makeBase(join(directory, 'base'))
    if (lackOfBase !== undefined) return t.skip(lackOfBase)
    mkdirSync(join(directory, 'packaging'))
    cpSync(join(ROOT, 'packaging/Containerfile'), join(directory, 'packaging/Containerfile'))
    writeFileSync(join(directory, 'events.ndjson'), eventLines(1234))
    writeFileSync(join(directory, 'containers.conf'), CONTAINERS)

    // All that podman makes and mounts is there, and gone with it.
    await using machine = await bootMachine(directory, ROOT)
    const under = [...machine.under, 'env', '-C', directory]
    const variables = {
      PATH,
      CONTAINERS_CONF: join(directory, 'containers.conf'),
      CONTAINERS_STORAGE_CONF: join(directory, 'storage.conf'),
      BUILDAH_ISOLATION: 'chroot',
    }
    const run = (script: string) => machine.run(script, variables)
    const lackOfPodman = prepare(directory, run)
    if (lackOfPodman !== undefined) return t.skip(lackOfPodman)

    const page = readFileSync(join(ROOT, 'docs/how-to/container.md'), 'utf8').replace('npm run build:executable\n', '')
    const [before = '', stop = ''] = page.split('\n## Stop\n')
    const shell = { directory, variables, under }

    await runShellPage(t, { markdown: before, ...shell })
    const wrong = `podman build --build-arg PROGRAM=${COMPRESSED} --tag wrong --file packaging/Containerfile dist`
    assert.equal(run(`${wrong} > /dev/null 2>&1 || echo "it failed"`), 'it failed\n')
    assert.match(run('podman exec reams id'), /^uid=10001\(reams\) gid=10001\(reams\) /)
    assert.equal(
      run('podman exec reams stat -c "%u %a %n" /data /data/reams.db'),
      '10001 700 /data\n10001 600 /data/reams.db\n',
    )
    assert.match(run('podman exec reams cat /proc/1/status'), /^CapBnd:\s+0+$/m)
    assert.match(run('podman run --rm reams 2>&1 || echo "exit status $?"'), / --base-url .*\nexit status 2\n$/)
    const program = ['/clone/node_modules/.bin/node', '/clone/src/cli/main.ts']
    const { status, stdout, stderr } = await runCli(['check', 'http://127.0.0.1:8080'], {
      in: directory,
      under,
      program,
    })
    assert.equal(status, 0, stdout + stderr)

    await runShellPage(t, { markdown: stop, ...shell })
    assert.match(run('curl -sS http://127.0.0.1:8080/events'), /^\{"item_count":1234,/)
    assert.equal(statSync('/dev/null').uid, 0, 'the null device of this machine was given away')
  })
})

/** Makes a Debian; answers why that cannot be, or undefined. It ends with this process, and leaves nothing mounted. */
async function makeBase(directory: string): Promise<string | undefined> {
  const inside = ['unshare', '--mount', '--pid', '--mount-proc', '--fork', '--kill-child']
  const words = ['--pdeathsig', 'KILL', ...inside, 'debootstrap', '--variant=minbase', 'stable', directory]
  return promisify(execFile)('setpriv', words, { timeout: DEBOOTSTRAP_MS, env: { PATH } }).then(
    () => undefined,
    ({ stdout, stderr }) => `debootstrap made no Debian: ${lastLine(stdout + stderr)}`,
  )
}

/** Gives podman the base under the name that the Containerfile has for it. Answers why no container can be run, or undefined. */
function prepare(directory: string, run: (script: string) => string): string | undefined {
  const name = 'docker.io/library/debian:stable-slim'
  let said = ''
  // Not every file system can be the place of an overlay.
  for (const driver of ['overlay', 'vfs']) {
    const [kept, running] = [join(directory, driver), join(directory, `${driver}-run`)]
    const storage = `[storage]\ndriver = "${driver}"\ngraphroot = "${kept}"\nrunroot = "${running}"\n`
    writeFileSync(join(directory, 'storage.conf'), storage)
    try {
      run(`tar -C base -c . | podman import - ${name}; podman run --rm ${name} true`)
      return undefined
    } catch (error) {
      said = lastLine(String((error as ExecFileException).stderr))
    }
  }
  return `podman runs no container here: ${said}`
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? ''
}
