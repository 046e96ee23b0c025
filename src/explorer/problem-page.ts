/** The page of a problem: what went wrong, and what to do. The script lets a visitor enter a token there. */

import type { Problem } from '../contract/problem.ts'
import { visible } from './browser/json-text.ts'
import { documentOf } from './document.ts'
import { html } from './html.ts'
import { localHref, type Site } from './site.ts'

export function problemPage(site: Site, { type, title, status, detail, hint }: Problem): string {
  const noScript =
    status === 401 || status === 404
      ? html`<noscript><p>What is private is shown to those with a token, and entering one needs JavaScript.</p></noscript>\n`
      : ''
  const main = html`<section class="notice problem"><h1>${title}</h1>
<p>${visible(detail)}</p>
<p>${hint}</p>
${noScript}<p class="facts">Status ${status} · <a href="${localHref(site, type)}">about this problem</a></p>
</section>`
  return documentOf(site, { view: 'problem', title: `${title} · Reams`, trail: [title], main })
}
