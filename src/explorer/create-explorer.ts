/** The explorer: pages for people who open an address of the service in a browser. */

import { entryUrl } from '../contract/link.ts'
import type { Problem } from '../contract/problem.ts'
import { type Asset, type Assets, makeAssets } from './assets.ts'
import { type CollectionContent, collectionPage } from './collection-page.ts'
import { entryPage, type ListedFacts } from './entry-page.ts'
import { html } from './html.ts'
import { type ItemContent, itemPage } from './item-page.ts'
import { action, localHref, type Page, popover } from './page-parts.ts'
import { problemPage, UNREACHABLE } from './problem-page.ts'

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
    item: (baseUrl: string, content: ItemContent): string => documentOf(baseUrl, itemPage(baseUrl, content)),
    problem: (baseUrl: string, problem: Problem): string => documentOf(baseUrl, problemPage(baseUrl, problem)),
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
  html`<form><label for="token-field">Token</label>
<input type="password" id="token-field" autocomplete="off" spellcheck="false">
<div class="row"><button>Use</button>${action('forget', 'Forget')}</div></form>
<p>For private collections. It is kept in the memory of this tab, and gone with a reload.</p>`,
)}</div>`
