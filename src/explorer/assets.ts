/** The files that the explorer's pages load: bundled from browser/ by scripts/build-explorer.ts, served from memory. */

import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { constants, gzipSync } from 'node:zlib'

export interface Asset {
  /** Below the base URL. It changes with every byte of the content, so it may be cached for ever. */
  readonly path: string
  readonly type: string
  readonly plain: Uint8Array
  readonly gzip: Uint8Array
}

export type Assets = Readonly<Record<'script' | 'style' | 'icon', Asset>>

/** What all assets may have together, not compressed. */
export const ASSET_BYTES = 60_000

const BUILT = join(import.meta.dirname, 'built')

/** Three sheets of a ream. */
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><g fill="#fff" stroke="#2b5a9b">' +
  '<path d="M5.5 1.5h8v10h-8z"/><path d="M4 3h8v10H4z"/><path d="M2.5 4.5h8v10h-8z"/>' +
  '<path d="M4.5 7.5h4m-4 2h4m-4 2h2"/></g></svg>'

export function makeAssets(): Assets {
  return {
    script: asset('js', 'text/javascript; charset=utf-8', readFileSync(join(BUILT, 'explorer.js'))),
    style: asset('css', 'text/css; charset=utf-8', readFileSync(join(BUILT, 'explorer.css'))),
    icon: asset('svg', 'image/svg+xml', Buffer.from(ICON)),
  }
}

function asset(extension: string, type: string, plain: Uint8Array): Asset {
  const path = `/-/explorer/explorer-${hash('sha256', plain, 'hex').slice(0, 16)}.${extension}`
  return { path, type, plain, gzip: gzipSync(plain, { level: constants.Z_BEST_COMPRESSION }) }
}
