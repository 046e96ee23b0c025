/** D2: leading zeros. */

import type { Answer } from '../answer.ts'
import { PAGE_RELATIONS } from '../document.ts'
import { isBroken, viewLink } from '../link-view.ts'
import { probedPage } from '../questions.ts'
import type { Rule } from '../rule.ts'
import { compareBytes } from '../same-bytes.ts'
import type { Trial } from '../trial.ts'

export const D2: Rule = {
  id: 'D2',
  title: 'A page number is one or more digits: leading zeros are allowed, and links are written without them.',
  why: 'The contract asks for a positive whole number, and 002 is one. That numbers of any length are taken is a part of C7.',
  hurts: 'a client that pads its numbers.',
  right: 'GET /events?page=002 → the bytes of /events?page=2',
  wrong: 'GET /events?page=002 → 400',
  scope: 'paginated',
  watch: (trial) => ({ see: (answer) => judgeLinks(trial, answer) }),
  async probe(trial) {
    const page = probedPage(trial)
    const [plain, padded] = await Promise.all([trial.subject.page(page), trial.subject.query(`page=00${page}`)])
    if (plain.status !== 200) return trial.skip(`page ${page} does not answer 200 (C1)`)
    await compareBytes(trial, plain, padded, `page ${page}`)
  },
}

function judgeLinks(trial: Trial, answer: Answer): void {
  for (const relation of [...PAGE_RELATIONS, 'self']) {
    const link = viewLink(answer.document?.links.get(relation), trial.subject.linkUrl)
    if (link !== undefined && !isBroken(link) && /[?&]page=0[0-9]/.test(link.href))
      trial.broken(answer, `${relation} without leading zeros`, link.href)
  }
}
