/** The document around every page, and the parts that pages share. The script works on what is there, by its attributes. */

import { entryUrl } from '../contract/link.ts'
import type { Assets } from './assets.ts'
import { type Content, type Html, html } from './html.ts'

export interface Page {
  readonly title: string
  /** Where the page is, behind the link to the entry. */
  readonly trail: readonly Content[]
  readonly main: Content
  /** The address of what is shown, as the service itself writes it. */
  readonly url?: string
  readonly collection?: string
  /** The page that is shown; none for a collection without pages. */
  readonly page?: number | undefined
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

export function documentOf(baseUrl: string, { script, style, icon }: Assets, page: Page): string {
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

/** What Reams links for a browser: without the origin, so that it also works where the browser knows us by another name. */
export function localHref(baseUrl: string, url: string): string {
  return url.slice(new URL(baseUrl).origin.length)
}

export function entryLink(baseUrl: string): Html {
  return html`<a href="${localHref(baseUrl, entryUrl(baseUrl))}">Collections</a>`
}

export function heading(title: string, facts: readonly string[], actions: Content): Html {
  return html`<div class="heading"><h1 tabindex="-1">${title}</h1>
<p class="facts">${facts.join(' · ')}</p>
<div class="row">${actions}</div></div>
`
}

/** A browser opens it without a token, so with one it could lead to nothing. */
export function rawLink(baseUrl: string, url: string): Html {
  return html`<a class="without-token" href="${localHref(baseUrl, url)}">Raw JSON</a>`
}

/** A button and what it opens. The browser closes it by Escape or by a click elsewhere. */
export function popover(id: string, label: string, content: Content): Html {
  return html`<button type="button" popovertarget="${id}">${label}</button><div id="${id}" popover role="dialog" aria-label="${label}">${content}</div>`
}

/** `curl` and client code for what is on the screen. The token itself stands in none of it. */
export function codePopover(url: string, code: Content): Html {
  const curl = html`curl ${quoted(url)}<span class="with-token"> -H "Authorization: Bearer $TOKEN"</span>`
  const snippets = [
    ['curl', curl],
    ['JavaScript', code],
  ] as const
  const sections = snippets.map(
    ([name, text]) =>
      html`<section><div class="row"><h2>${name}</h2>${action('copy', `Copy ${name}`)}</div><pre tabindex="0">${text}</pre></section>`,
  )
  return popover('code', 'Code', sections)
}

/** The call of `fetch` that gets this. */
export function fetchCall(url: string): Html {
  return html`await fetch(${quoted(url)}<span class="with-token">, { headers: { Authorization: 'Bearer ' + token } }</span>)`
}

/** As a text in JavaScript or in a shell. */
export function quoted(url: string): string {
  return `'${url.replaceAll("'", '%27')}'`
}

/** A button for which the script does something. */
export function action(name: string, label: string): Html {
  return html`<button type="button" class="scripted" data-action="${name}">${label}</button>`
}

/** The field has no name, so that a token can never get into an address. */
const TOKEN = html`<div class="scripted">${popover(
  'token',
  'Token',
  html`<form><label for="token-field">Token</label><input type="password" id="token-field" autocomplete="off" spellcheck="false">
<div class="row"><button>Use</button>${action('forget', 'Forget')}</div></form>
<p>For private collections. It is kept in the memory of this tab, and gone with a reload.</p>`,
)}</div>`

/** What the script shows where no page came. */
const UNREACHABLE = html`<template id="unreachable"><header id="top"><nav aria-label="Breadcrumb"><ol><li></li></ol></nav></header>
<main id="main"><section class="notice unreachable"><h1 tabindex="-1"></h1>
<p>Nothing could be read. This page asks again as soon as there is a connection.</p>
<div class="row">${action('retry', 'Try again')}</div></section></main></template>`
