/** What is shown where there is no page of data: what went wrong, and what to do. */

import type { Problem } from '../contract/problem.ts'
import { visible } from './browser/text.ts'
import { html } from './html.ts'
import { action, localHref, type Page } from './page-parts.ts'

/** What is private looks as if it were not there to those without a token. */
const HIDES_PRIVATE = [401, 403, 404]

export function problemPage(baseUrl: string, { type, title, status, detail, hint }: Problem): Page {
  const token = html`<button type="button" class="scripted" popovertarget="token">Enter a token</button>
<noscript><p>What is private is shown to those with a token, and entering one needs JavaScript.</p></noscript>`
  const main = html`<section class="notice"><h1 tabindex="-1">${title}</h1>
<p>${visible(detail)}</p>
<p>${hint}</p>
<div class="row">${action('retry', 'Try again')}${HIDES_PRIVATE.includes(status) ? token : ''}</div>
<p class="facts">Status ${status} · <a href="${localHref(baseUrl, type)}">about this problem</a></p>
</section>`
  return { title, trail: [title], main }
}

/** What the script shows where no page came. */
export const UNREACHABLE = html`<template id="unreachable">
<header id="top"><nav aria-label="Breadcrumb"><ol><li></li></ol></nav></header>
<main id="main"><section class="notice unreachable"><h1 tabindex="-1"></h1>
<p>Nothing could be read. This page asks again as soon as there is a connection.</p>
<div class="row">${action('retry', 'Try again')}</div></section></main></template>`
