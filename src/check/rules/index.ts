/** All rules, in the order of the report. */

import type { Rule } from '../rule.ts'
import { C1 } from './c1-envelope.ts'
import { C2 } from './c2-count.ts'
import { C3 } from './c3-page-size.ts'
import { C4 } from './c4-link-form.ts'
import { C5 } from './c5-link-pages.ts'
import { C6 } from './c6-page-parameter.ts'
import { C7 } from './c7-beyond-last.ts'
import { C8 } from './c8-kind.ts'
import { C9 } from './c9-other-links.ts'
import { C10 } from './c10-no-body.ts'
import { D1 } from './d1-first-page.ts'
import { D2 } from './d2-page-numbers.ts'
import { D3 } from './d3-invalid-pages.ts'
import { D4 } from './d4-ends.ts'
import { D5 } from './d5-empty.ts'
import { D6 } from './d6-embedded-key.ts'
import { D7 } from './d7-self.ts'
import { D8 } from './d8-order.ts'
import { D9 } from './d9-items.ts'
import { D10 } from './d10-unpaginated.ts'
import { D11 } from './d11-unknown-parameters.ts'
import { D12 } from './d12-media-type.ts'
import { D13 } from './d13-methods.ts'
import { D14 } from './d14-problems.ts'
import { D15 } from './d15-snapshot.ts'
import { D16 } from './d16-caching.ts'
import { D17 } from './d17-base-url.ts'

/** All rules, in the order in which a report has them. */
export const RULES: readonly Rule[] = [
  ...[C1, C2, C3, C4, C5, C6, C7, C8, C9, C10],
  ...[D1, D2, D3, D4, D5, D6, D7, D8, D9, D10, D11, D12, D13, D14, D15, D16, D17],
]
