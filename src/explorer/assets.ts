/** The files that the explorer's pages load: bundled from browser/ by scripts/build-explorer.ts, served from memory. */

import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { constants, gzipSync } from 'node:zlib'
import { ICON } from './icon.ts'

export interface Asset {
  /** Below the base URL; it changes with every byte of the content, so that it may be kept for ever. */
  readonly path: string
  readonly type: string
  readonly plain: Uint8Array
  readonly gzip: Uint8Array
}

export interface Assets {
  readonly script: Asset
  readonly style: Asset
  readonly icon: Asset
}

/** What all assets may have together, not compressed. */
export const ASSET_BYTES = 60_000

const BUILT = join(import.meta.dirname, 'built')

export function makeAssets(): Assets {
  return {
    script: asset('js', 'text/javascript; charset=utf-8', readFileSync(join(BUILT, 'explorer.js'))),
    style: asset('css', 'text/css; charset=utf-8', readFileSync(join(BUILT, 'explorer.css'))),
    icon: asset('svg', 'image/svg+xml', Buffer.from(ICON)),
  }
}

function asset(extension: string, type: string, plain: Uint8Array): Asset {
  const name = `explorer-${hash('sha256', plain, 'hex').slice(0, 16)}.${extension}`
  return {
    path: `/-/explorer/${name}`,
    type,
    plain,
    gzip: gzipSync(plain, { level: constants.Z_BEST_COMPRESSION }),
  }
}
