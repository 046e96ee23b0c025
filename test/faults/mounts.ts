/** File systems of our own, which may run full or lose power without harm to anybody. */

import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** mkfs.xfs makes no smaller ones. The file has holes, and little of this is ever written. */
const XFS_BYTES = 320 * 2 ** 20

/** `mount` and its relatives, also where the PATH of a user does not lead to them. */
function administer(command: string, ...words: string[]): void {
  const env = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin:/sbin` }
  execFileSync(command, words, { env, stdio: ['ignore', 'ignore', 'pipe'] })
}

/** A mounted directory; whatever ends the process, short of being killed, unmounts it. */
class Mount implements Disposable {
  readonly path: string

  constructor(path: string, words: readonly string[]) {
    this.path = path
    mkdirSync(path, { recursive: true })
    administer('mount', ...words, path)
    process.on('exit', this.#detach)
  }

  /** A process that was started here may still be alive at that time. */
  readonly #detach = (): void => {
    administer('umount', '--lazy', this.path)
  };

  [Symbol.dispose](): void {
    administer('umount', this.path)
    process.off('exit', this.#detach)
  }
}

export function mountTmpfs(directory: string, megabytes: number): Mount {
  return new Mount(join(directory, 'tmpfs'), ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs'])
}

/** Takes all space that is left, to the last block. */
export function fillDisk(path: string): void {
  const file = openSync(path, 'w')
  try {
    for (let bytes = 2 ** 20; bytes >= 512; ) {
      try {
        writeSync(file, Buffer.alloc(bytes))
      } catch {
        bytes /= 2
      }
    }
  } finally {
    closeSync(file)
  }
}

/** An XFS file system in a file, mounted; its power can be cut. */
export class XfsImage implements Disposable {
  readonly #image: string
  readonly #path: string
  #mount: Mount

  constructor(directory: string) {
    this.#image = join(directory, 'xfs.image')
    this.#path = join(directory, 'xfs')
    writeFileSync(this.#image, '')
    truncateSync(this.#image, XFS_BYTES)
    administer('mkfs.xfs', '-q', this.#image)
    this.#mount = this.#mounted()
  }

  get path(): string {
    return this.#path
  }

  /** From now on nothing reaches the disk any more, also not what the kernel still holds back. */
  cutPower(): void {
    administer('xfs_io', '-x', '-c', 'shutdown', this.#path)
  }

  /** After everybody who had a file open is gone. */
  mountAgain(): void {
    this.#mount[Symbol.dispose]()
    this.#mount = this.#mounted()
  }

  #mounted(): Mount {
    return new Mount(this.#path, ['-t', 'xfs', '-o', 'loop', this.#image])
  }

  [Symbol.dispose](): void {
    this.#mount[Symbol.dispose]()
  }
}
