/** The explorer: pages for people who open an address of the service in a browser. */

import { hash } from 'node:crypto'
import { constants, gzipSync } from 'node:zlib'
import { collectionUrl, entryUrl, problemUrl } from '../contract/link.ts'
import type { Problem } from '../contract/problem.ts'
import { parseCollectionPath } from '../contract/state-tag.ts'
import { readProgramText } from '../program-files/program-files.ts'
import { brief, visible } from './browser/text.ts'
import { type CollectionContent, collectionPage, type PastContent, pastPage } from './collection-page.ts'
import { entryPage, type ListedFacts } from './entry-page.ts'
import { type Html, html } from './html.ts'
import { action, type ItemContent, itemPage, localHref, type Page, popover } from './page-parts.ts'

/**
 * Nothing but our own files, no style or script within the document, and no way to turn text into markup. It loads nothing
 * from another host, posts nothing, and stands in no frame.
 */
export const SECURITY_HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; " +
    "base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'Referrer-Policy': 'no-referrer',
} as const

export type Explorer = ReturnType<typeof createExplorer>

/** One for all services of the process: it depends on nothing but the program itself. */
let made: Assets | undefined

export function createExplorer() {
  const assets = (): Assets => {
    made ??= makeAssets()
    return made
  }
  const documentOf = (baseUrl: string, page: Page) => documentText(baseUrl, assets(), page)
  return {
    /** The file that pages load from this path, if they do. */
    asset: (path: string): Asset | undefined => Object.values(assets()).find((asset: Asset) => asset.path === path),
    entry: (baseUrl: string, collections: readonly ListedFacts[], isComplete: boolean): string =>
      documentOf(baseUrl, entryPage(baseUrl, collections, isComplete)),
    collection: (baseUrl: string, content: CollectionContent): string =>
      documentOf(baseUrl, collectionPage(baseUrl, content)),
    past: (baseUrl: string, content: PastContent): string => documentOf(baseUrl, pastPage(baseUrl, content)),
    item: (baseUrl: string, content: ItemContent): string => documentOf(baseUrl, itemPage(baseUrl, content)),
    problem: (baseUrl: string, problem: Problem, asked: Asked): string =>
      documentOf(baseUrl, problemPage(baseUrl, problem, asked)),
  }
}

/** The script works on what is there, by its attributes. */
function documentText(baseUrl: string, { script, style, icon }: Assets, page: Page): string {
  const asset = (path: string) => localHref(baseUrl, baseUrl + path)
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${page.title} · Reams</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="${asset(icon.path)}" type="image/svg+xml">
<link rel="stylesheet" href="${asset(style.path)}">
<script type="module" src="${asset(script.path)}"></script>
</head>
<body>
<header id="top"><a class="brand" href="${localHref(baseUrl, entryUrl(baseUrl))}">Reams</a>
<nav aria-label="Breadcrumb"><ol>${page.trail.map((step) => html`<li>${step}</li>`)}</ol></nav>
${TOKEN}</header>
<main id="main" data-url="${page.url}" data-collection="${page.collection}" data-page="${page.page}">
${page.main}
</main>
<p id="status" role="status"></p>
${UNREACHABLE}
</body>
</html>
`.text
}

/** The field has no name, so that a token can never get into an address. */
const TOKEN = html`<div class="scripted">${popover(
  'token',
  'Token',
  html`<form><p class="refused" role="alert">The server does not accept this token. Correct it, or forget it.</p>
<label for="token-field">Token</label>
<input type="password" id="token-field" autocomplete="off" spellcheck="false" autofocus>
<div class="row"><button>Use</button>${action('forget', 'Forget')}</div></form>
<p>For private collections. It is kept in the memory of this tab, and gone with a reload.</p>`,
)}</div>`

interface Asset {
  /** Below the base URL. It changes with every byte of the content, so it may be cached for ever. */
  readonly path: string
  readonly type: string
  readonly plain: Uint8Array
  readonly gzip: Uint8Array
}

type Assets = Readonly<Record<'script' | 'style' | 'icon', Asset>>

/** What all assets may have together, not compressed. */
export const ASSET_BYTES = 60_000

/** Three sheets of a ream. */
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><g fill="#fff" stroke="#2b5a9b">' +
  '<path d="M5.5 1.5h8v10h-8z"/><path d="M4 3h8v10H4z"/><path d="M2.5 4.5h8v10h-8z"/>' +
  '<path d="M4.5 7.5h4m-4 2h4m-4 2h2"/></g></svg>'

export function makeAssets(): Assets {
  return {
    script: asset('js', 'text/javascript; charset=utf-8', bytesOf('explorer/built/explorer.js')),
    style: asset('css', 'text/css; charset=utf-8', bytesOf('explorer/built/explorer.css')),
    icon: asset('svg', 'image/svg+xml', Buffer.from(ICON)),
  }
}

function bytesOf(path: string): Uint8Array {
  return Buffer.from(readProgramText(path))
}

function asset(extension: string, type: string, plain: Uint8Array): Asset {
  const path = `/-/explorer/explorer-${hash('sha256', plain, 'hex').slice(0, 16)}.${extension}`
  return { path, type, plain, gzip: gzipSync(plain, { level: constants.Z_BEST_COMPRESSION }) }
}

/** What is private looks as if it were not there to those without a token. */
const HIDES_PRIVATE = [401, 403, 404]

export interface Asked {
  /** Path and query as they came. */
  readonly target: string
  /** The path without that of the base URL. */
  readonly path: string
}

/** Of an address, a page shows this much. */
const ADDRESS_CHARACTERS = 300

function problemPage(baseUrl: string, problem: Problem, { target, path }: Asked): Page {
  const { type, title, status, detail, hint, request_id: requestId } = problem
  const token = html`<button type="button" class="scripted" popovertarget="token">Enter a token</button>
<noscript><p>What is private is shown to those with a token, and entering one needs JavaScript.</p></noscript>`
  const main = html`<section class="notice"><h1 tabindex="-1">${title}</h1>
<p>${visible(detail)}</p>
<p>${hint}</p>
<p class="facts">You asked for <code>${brief(target, ADDRESS_CHARACTERS)}</code></p>
<div class="row">${action('retry', 'Try again')}${HIDES_PRIVATE.includes(status) ? token : ''}${wayBack(baseUrl, problem, path)}</div>
<p class="facts">Status ${status} · ${requestId === undefined ? '' : `request ${requestId} · `}<a href="${localHref(baseUrl, type)}">about this problem</a></p>
</section>`
  return { title, trail: [title], main }
}

/** To the collection that the address is below, or names a state of, where it may be there; else to the entry. */
function wayBack(baseUrl: string, { type }: Problem, path: string): Html {
  const [, first = '', ...below] = path.split('/')
  const { name, tag } = parseCollectionPath(first) ?? {}
  const isBelow = below.length > 0 || tag !== undefined
  const isThere = isBelow && type !== problemUrl(baseUrl, 'collection-not-found')
  const [url, label] =
    isThere && name !== undefined
      ? [collectionUrl(baseUrl, name), `Back to ${name}`]
      : [entryUrl(baseUrl), 'All collections']
  return html`<a href="${localHref(baseUrl, url)}">${label}</a>`
}

/** What the script shows where no page came. */
const UNREACHABLE = html`<template id="unreachable">
<header id="top"><nav aria-label="Breadcrumb"><ol><li></li></ol></nav></header>
<main id="main"><section class="notice unreachable"><h1 tabindex="-1"></h1>
<p>Nothing could be read. This page asks again as soon as there is a connection.</p>
<p class="facts">You asked for <code></code></p>
<div class="row">${action('retry', 'Try again')}</div></section></main></template>`
