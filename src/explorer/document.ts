/** The document around every page. The script finds in `body` where it is, and takes over what is in `#top` and `#main`. */

import { entryUrl } from '../contract/link.ts'
import { type Content, type Html, html } from './html.ts'
import { localHref, type Site } from './site.ts'

export interface Page {
  readonly view: 'entry' | 'collection' | 'item' | 'problem'
  readonly title: string
  /** Where the page is, behind the link to the entry. */
  readonly trail: readonly Content[]
  readonly main: Html
  readonly collection?: string
  readonly key?: string
  /** The page that is shown; none for a collection without pages. */
  readonly page?: number
}

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

export function documentOf(site: Site, { view, title, trail, main, collection, key, page }: Page): string {
  const { script, style, icon } = site.assets
  const asset = (path: string) => localHref(site, site.baseUrl + path)
  const steps = trail.map((step) => html`<li>${step}</li>`)
  const attributes = [
    html` data-view="${view}" data-base-url="${site.baseUrl}"`,
    collection === undefined ? '' : html` data-collection="${collection}"`,
    key === undefined ? '' : html` data-key="${key}"`,
    page === undefined ? '' : html` data-page="${page}"`,
  ]
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="${asset(icon.path)}" type="image/svg+xml">
<link rel="stylesheet" href="${asset(style.path)}">
<script type="module" src="${asset(script.path)}"></script>
</head>
<body${attributes}>
<header id="top"><a class="brand" href="${localHref(site, entryUrl(site.baseUrl))}">Reams</a>
<nav aria-label="Breadcrumb"><ol>${steps}</ol></nav></header>
<main id="main">
${main}
</main>
</body>
</html>
`.text
}
