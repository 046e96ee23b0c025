/** The files that the explorer's pages load: made once from src/explorer/browser/, then served from memory. */

import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { constants, gzipSync } from 'node:zlib'
import { ICON } from './icon.ts'
import { joinModules } from './join-modules.ts'
import { squeezeCss } from './squeeze-css.ts'

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

const BROWSER = join(import.meta.dirname, 'browser')

export function makeAssets(): Assets {
  // The extension of this file: as they are developed the modules are TypeScript, in the package JavaScript.
  const script = joinModules(join(BROWSER, `main${extname(import.meta.filename)}`))
  const style = squeezeCss(readFileSync(join(BROWSER, 'explorer.css'), 'utf8'))
  return {
    script: asset('js', 'text/javascript; charset=utf-8', script),
    style: asset('css', 'text/css; charset=utf-8', style),
    icon: asset('svg', 'image/svg+xml', ICON),
  }
}

function asset(extension: string, type: string, text: string): Asset {
  const plain = Buffer.from(text)
  const name = `explorer-${hash('sha256', plain, 'hex').slice(0, 16)}.${extension}`
  return {
    path: `/-/explorer/${name}`,
    type,
    plain,
    gzip: gzipSync(plain, { level: constants.Z_BEST_COMPRESSION }),
  }
}
