/** `reams follow` as a process of its own, and what it has installed in the database of its table. */

import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { Names } from '../../src/follow/installation.ts'
import { ended, REAMS, runProgram, startProgram } from '../child-process.ts'
import { type Memory, MemorySampler } from '../memory.ts'
import { COLLECTION } from '../workspace.ts'
import type { PostgresWorkspace } from './workspace.ts'

const LOOK_EVERY_MS = 50

export interface FollowPlan {
  readonly postgres: PostgresWorkspace
  readonly table: string
  /** Path of the store. */
  readonly store: string
  readonly signal: AbortSignal
}

export class RunningFollower implements AsyncDisposable {
  readonly #plan: FollowPlan
  readonly #child: ChildProcess
  readonly #closed: Promise<unknown>
  readonly #client: Client
  readonly #sampler: MemorySampler
  #queue = ''

  private constructor(plan: FollowPlan, child: ChildProcess, client: Client) {
    this.#plan = plan
    this.#child = child
    this.#closed = ended(child)
    this.#client = client
    this.#sampler = new MemorySampler(child.pid ?? 0)
  }

  /** Resolves when all that was there has been taken over. */
  static async start(plan: FollowPlan, flags: readonly string[] = []): Promise<RunningFollower> {
    const { postgres, table, store, signal } = plan
    await postgres.execute(`CREATE SCHEMA IF NOT EXISTS ${postgres.schema('follow')}`)
    const words = ['follow', '--install', '--name', COLLECTION, '--store', store, '--log-level', 'warn', ...flags]
    const client = await postgres.connect()
    const follower = new RunningFollower(
      plan,
      startProgram(REAMS, [...words, ...sourceOf(postgres, table)], signal),
      client,
    )
    try {
      await follower.#untilLoaded()
      await follower.untilDone()
      return follower
    } catch (error) {
      await follower[Symbol.asyncDispose]()
      throw error
    }
  }

  get memory(): readonly Memory[] {
    return this.#sampler.samples
  }

  /** Changes in the queue. */
  async waiting(): Promise<number> {
    const { rows } = await this.#client.query(`SELECT count(*)::int AS waiting FROM ${this.#queue}`)
    return rows[0].waiting
  }

  async untilDone(): Promise<void> {
    while ((await this.waiting()) > 0) await this.#pause()
  }

  async #untilLoaded(): Promise<void> {
    const { postgres, table } = this.#plan
    const schema = postgres.schema('follow')
    const { followers } = new Names(schema, '')
    const question = `SELECT id FROM ${followers} WHERE relation = '${table}'::regclass AND state IS NOT NULL`
    for (;;) {
      await this.#pause()
      const { rows: found } = await this.#client.query('SELECT to_regclass($1) IS NOT NULL AS is_there', [followers])
      const [follower] = found[0].is_there ? (await this.#client.query(question)).rows : []
      if (follower === undefined) continue
      this.#queue = new Names(schema, follower.id).queue
      return
    }
  }

  async #pause(): Promise<void> {
    await sleep(LOOK_EVERY_MS, undefined, { signal: this.#plan.signal })
    if (this.#child.exitCode !== null) throw new Error(`reams follow ended with status ${this.#child.exitCode}.`)
  }

  /** As by Ctrl-C. What it has installed stays. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#sampler.stop()
    this.#child.kill('SIGINT')
    await this.#closed
    await this.#client.end()
  }
}

/** Takes away what followers have installed. */
export async function unfollow({ postgres, table, signal }: FollowPlan): Promise<void> {
  await runProgram(REAMS, ['unfollow', ...sourceOf(postgres, table)], signal)
}

function sourceOf(postgres: PostgresWorkspace, table: string): string[] {
  return ['--from', postgres.url, '--table', table, '--schema', postgres.schema('follow')]
}
