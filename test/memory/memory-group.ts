/** A control group with little memory and no swap, as a container has one: for a real process in it. */

import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'

const ROOT = '/sys/fs/cgroup'

/** How the two versions of control groups name the same things. */
const VERSIONS = [
  { line: /^0::(.*)$/m, mount: ROOT, limit: 'memory.max', swap: ['memory.swap.max', '0'], kills: 'memory.events' },
  {
    line: /^\d+:memory:(.*)$/m,
    mount: `${ROOT}/memory`,
    limit: 'memory.limit_in_bytes',
    swap: ['memory.swappiness', '0'],
    kills: 'memory.oom_control',
  },
] as const

export class MemoryGroup implements AsyncDisposable {
  readonly #path: string
  readonly #kills: string

  private constructor(path: string, kills: string) {
    this.#path = path
    this.#kills = kills
  }

  /** A group below the one of this process, or the reason why there is none. */
  static create(bytes: number): MemoryGroup | string {
    if (process.platform !== 'linux') return `it needs Linux, and this is ${process.platform}`
    const own = readFileSync('/proc/self/cgroup', 'utf8')
    const failures: string[] = []
    for (const { line, mount, limit, swap, kills } of VERSIONS) {
      const parent = `${mount}${line.exec(own)?.[1]}`.replace(/\/$/, '')
      const path = `${parent}/reams-${process.pid}-${bytes}`
      if (line.exec(own) === null || !existsSync(`${parent}/cgroup.procs`)) continue
      try {
        mkdirSync(path)
        const group = new MemoryGroup(path, kills)
        try {
          writeFileSync(`${path}/${limit}`, String(bytes), { flag: 'r+' })
          if (existsSync(`${path}/${swap[0]}`)) writeFileSync(`${path}/${swap[0]}`, swap[1])
          return group
        } catch (error) {
          rmdirSync(path)
          throw error
        }
      } catch (error) {
        failures.push(error instanceof Error ? error.message : String(error))
      }
    }
    return `no control group with a limit of memory can be made here: ${failures.join('; ') || 'there are none'}`
  }

  /** A command that runs the one after it in this group. */
  get wrapper(): readonly string[] {
    return ['sh', '-c', `echo $$ > ${this.#path}/cgroup.procs && exec "$@"`, 'sh']
  }

  /** How many of its processes the system has killed for want of memory. */
  get kills(): number {
    return Number(/^oom_kill (\d+)$/m.exec(readFileSync(`${this.#path}/${this.#kills}`, 'utf8'))?.[1])
  }

  /** The memory of its processes, without files that the system has cached. */
  get residentBytes(): number {
    return Number(/^(?:rss|anon) (\d+)$/m.exec(readFileSync(`${this.#path}/memory.stat`, 'utf8'))?.[1])
  }

  /** Its processes must have ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (let attempt = 0; ; attempt++)
      try {
        return rmdirSync(this.#path)
      } catch (error) {
        // A process that has just ended leaves the group a moment later.
        if (attempt === 50) throw error
        await setTimeout(100)
      }
  }
}
