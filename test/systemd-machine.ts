/**
 * A machine with a real systemd as its first process, in namespaces of its own: what is installed and started there is gone
 * at the end, and nothing of it reaches this machine. It sees the files of this one, and what it writes goes to memory.
 */

import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LINUX_ROOT, lackOf, type Need } from './faults/needs.ts'
import { waitUntil } from './wait-until.ts'

/** On the machine. */
export const PATH = '/usr/sbin:/usr/bin:/sbin:/bin'

const SYSTEMD = '/lib/systemd/systemd'
const NAMESPACES = ['--cgroup', '--mount', '--pid', '--uts', '--ipc', '--net', '--fork', '--kill-child']

/**
 * $1 is a directory that both machines see, $2 the clone, which is /clone there. The settings of the kernel belong to both machines, so they are
 * read-only, and the first process may not change the clock, load modules and the like.
 */
const BOOT = `set -e
mount --make-rprivate /
mount -t tmpfs tmpfs "$1/machine"
mkdir "$1/machine/upper" "$1/machine/work" "$1/machine/root"
root=$1/machine/root
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/machine/upper,workdir=$1/machine/work" "$root"
mount -t proc proc "$root/proc"
for path in "$root/proc/sys" "$root/proc/sysrq-trigger"; do
  [ -e "$path" ] || continue
  mount --bind "$path" "$path"
  mount -o remount,bind,ro "$path"
done
mount -t sysfs -o ro sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
mkdir "$root/dev/shm" "$root/dev/pts"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
# Its own: who runs a container gives the null device to the user in it.
while read -r name major minor; do
  mknod -m 666 "$root/dev/$name" c "$major" "$minor"
done <<END
null 1 3
zero 1 5
full 1 7
random 1 8
urandom 1 9
tty 5 0
END
for path in run tmp; do mount -t tmpfs tmpfs "$root/$path"; done
chmod 1777 "$root/tmp" "$root/dev/shm"
mkdir -p "$root$1" "$root/clone"
mount --bind "$1" "$root$1"
mount --bind "$2" "$root/clone"
mount -o remount,bind,ro "$root/clone"
# Nothing that this machine starts.
rm -rf "$root/etc/systemd/system"
mkdir "$root/etc/systemd/system"
printf '[Unit]\\nRequires=basic.target\\nAfter=basic.target\\n' > "$root/etc/systemd/system/machine.target"
for unit in sysctl modules-load udevd udev-trigger remount-fs journald-audit; do
  ln -s /dev/null "$root/etc/systemd/system/systemd-$unit.service"
done
ln -s /dev/null "$root/etc/systemd/system/systemd-journald-audit.socket"
cd "$root"
pivot_root . mnt
umount -l /mnt
export container=machine
exec setpriv --bounding-set=-sys_module,-sys_time,-sys_boot,-syslog,-audit_control ${SYSTEMD} --system --unit=machine.target
`

export const SYSTEMD_MACHINE: Need = async () => {
  const lack = await lackOf([LINUX_ROOT])
  if (lack !== undefined) return lack
  if (!existsSync(SYSTEMD)) return `there is no systemd at ${SYSTEMD}`
  if (groupsDirectory() === undefined) return 'cgroup2 is not mounted, which systemd needs'
  const { status, stderr } = spawnSync('unshare', [...NAMESPACES, 'true'], { encoding: 'utf8' })
  return status === 0 ? undefined : `no namespaces can be had here: ${stderr?.trim()}`
}

export interface Machine extends AsyncDisposable {
  /** What runs the command behind it on the machine. */
  readonly under: readonly string[]
  /** Runs a script in the directory of the machine, and returns what it prints. */
  readonly run: (script: string, variables?: Readonly<Record<string, string>>) => string
}

/** Resolves when all is started; rejects with what was said where that cannot be. `directory` is an empty one. */
export async function bootMachine(directory: string, clone: string): Promise<Machine> {
  mkdirSync(join(directory, 'machine'))
  const group = join(groupsDirectory() ?? '', `reams-test-${process.pid}`)
  mkdirSync(group)
  writeFileSync(join(directory, 'boot.sh'), BOOT)
  // It ends with this process, however that ends.
  const enterGroup = 'echo $$ > "$0/cgroup.procs"; exec setpriv --pdeathsig KILL "$@"'
  const child = spawn(
    'sh',
    ['-c', enterGroup, group, 'unshare', ...NAMESPACES, 'sh', join(directory, 'boot.sh'), directory, clone],
    { env: { PATH }, stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const closed = once(child, 'close')
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    said += text
  })
  const machine: Machine = {
    get under() {
      const [first = ''] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').split(' ')
      return ['nsenter', '--target', first, '--mount', '--pid', '--net', '--uts', '--ipc', '--']
    },
    run: (script, variables) => {
      const [program = '', ...words] = [...machine.under, 'env', '-C', directory, 'sh', '-ec', script]
      const env = { PATH, ...variables }
      return execFileSync(program, words, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL')
      await closed
      await removeGroups(group)
    },
  }
  try {
    await waitUntil(async () => child.exitCode !== null || (await isRunning(machine)))
    assert.equal(child.exitCode, null)
    return machine
  } catch {
    await machine[Symbol.asyncDispose]()
    throw new Error(`systemd does not start in namespaces here: ${said.trim()}`)
  }
}

async function isRunning({ under }: Machine): Promise<boolean> {
  const [program = '', ...words] = [...under, 'systemctl', 'is-active', '--quiet', 'machine.target']
  const [status] = await once(spawn(program, words, { stdio: 'ignore' }), 'close')
  return status === 0
}

function groupsDirectory(): string | undefined {
  return /^\S+ (\S+) cgroup2 /m.exec(readFileSync('/proc/mounts', 'utf8'))?.[1]
}

/** They can be removed when the last process is gone, the inner ones first; after a minute they are left. */
async function removeGroups(group: string): Promise<void> {
  const groups = globSync('**/', { cwd: group }).map((path) => join(group, path))
  const innerFirst = [...new Set([group, ...groups])].sort((a, b) => b.length - a.length)
  await waitUntil(() => {
    try {
      for (const each of innerFirst) if (existsSync(each)) rmdirSync(each)
      return true
    } catch {
      return false
    }
  }).catch(() => {})
}
