/** The page of a problem: what went wrong, and what to do. The script lets a visitor enter a token there. */

import type { Problem } from '../contract/problem.ts'
import { visible } from './browser/text.ts'
import { action, localHref, type Page } from './document.ts'
import { html } from './html.ts'

/** What is private looks as if it were not there to those without a token. */
const HIDES_PRIVATE = [401, 403, 404]

export function problemPage(baseUrl: string, { type, title, status, detail, hint }: Problem): Page {
  const token = html`<button type="button" class="scripted" popovertarget="token">Enter a token</button>
<noscript><p>What is private is shown to those with a token, and entering one needs JavaScript.</p></noscript>`
  const main = html`<section class="notice problem"><h1 tabindex="-1">${title}</h1>
<p>${visible(detail)}</p>
<p>${hint}</p>
<div class="row">${action('retry', 'Try again')}${HIDES_PRIVATE.includes(status) ? token : ''}</div>
<p class="facts">Status ${status} · <a href="${localHref(baseUrl, type)}">about this problem</a></p>
</section>`
  return { title, trail: [title], main }
}
