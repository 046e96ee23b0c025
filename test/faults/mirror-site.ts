/** One place in a chain of mirrors: a store, its server, which can be killed, and the weak line to it for whoever mirrors it. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../bench/random.ts'
import { startProxy, type TcpProxy, type Verdict } from '../store/tcp-proxy.ts'
import { MortalServer } from './mortal-server.ts'
import { runReams } from './reams-process.ts'
import { addToken } from './store-under-test.ts'

/** A cut comes after so many bytes at most, as a power of two. */
const MAX_CUT_POWER = 17

export class MirrorSite implements AsyncDisposable {
  readonly name: string
  readonly location: string
  readonly server: MortalServer
  readonly line: TcpProxy

  private constructor(name: string, location: string, server: MortalServer, proxy: TcpProxy) {
    this.name = name
    this.location = location
    this.server = server
    this.line = proxy
  }

  static async start(name: string, location: string): Promise<MirrorSite> {
    const proxy = await startProxy('127.0.0.1', 0)
    const server = new MortalServer(location, await addToken(location), `http://127.0.0.1:${proxy.port}`)
    const site = new MirrorSite(name, location, server, proxy)
    proxy.targetPort = await server.port()
    return site
  }

  /** By the line. */
  urlOf(collection: string): string {
    return `http://127.0.0.1:${this.line.port}/${collection}`
  }

  /** kill -9 of the server, and the next one. */
  async killServer(between?: () => Promise<void>): Promise<void> {
    // The port may be given to somebody else, whom nobody here means.
    this.line.isOpen = false
    await this.server.killAndStart(between)
    this.line.targetPort = await this.server.port()
    this.line.isOpen = true
  }

  /** Cuts the connection that has carried a random number of bytes from now on, in one of both directions. */
  cutSoon(random: Random, onCut: () => void): void {
    const isAnswer = random(4) > 0
    let left = random(2 ** (1 + random(isAnswer ? MAX_CUT_POWER : 10)))
    const judge = ({ length }: Buffer): Verdict => {
      left -= length
      if (left > 0) return 'pass'
      this.pass()
      onCut()
      return left + length
    }
    if (isAnswer) this.line.judgeAnswer = judge
    else this.line.judge = judge
  }

  /** It goes on, and stands still again after so many bytes of answers: resolves then, or after a while. */
  async stallAfter(bytes: number, mostMs: number): Promise<void> {
    let left = bytes
    const stalled = new AbortController()
    this.release()
    this.line.judgeAnswer = ({ length }) => {
      left -= length
      if (left <= 0) stalled.abort()
      if (left <= 0) this.line.hold()
      return 'pass'
    }
    await sleep(mostMs, undefined, { signal: stalled.signal }).catch(() => {})
    this.line.hold()
  }

  release(): void {
    this.pass()
    this.line.release()
  }

  /** From now on everything passes. */
  pass(): void {
    this.line.judge = () => 'pass'
    this.line.judgeAnswer = () => 'pass'
  }

  /** Runs a command on its store, and throws what it says where it fails. */
  async run(words: readonly string[]): Promise<string> {
    const { status, stdout, stderr } = await runReams(words, { variables: { REAMS_STORE: this.location } })
    if (status !== 0) throw new Error(`reams ${words.join(' ')}: ${stdout}${stderr}`)
    return stdout
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.line.close()
    await this.server[Symbol.asyncDispose]()
  }
}
