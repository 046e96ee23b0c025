/** The list of all rules. */

import type { Rule } from '../rule.ts'
import { C1 } from './c1-envelope.ts'
import { C2 } from './c2-count.ts'
import { C3 } from './c3-page-size.ts'
import { C4, C9 } from './c4-c9-link-form.ts'
import { C5, D4 } from './c5-d4-link-pages.ts'
import { C6, D11 } from './c6-d11-parameters.ts'
import { C7 } from './c7-beyond-last.ts'
import { C8, D10 } from './c8-d10-unpaginated.ts'
import { C10, D13 } from './c10-d13-methods.ts'
import { D1, D2, D3 } from './d1-d3-page-numbers.ts'
import { D5, D6, D9 } from './d5-d6-d9-items.ts'
import { D7 } from './d7-self.ts'
import { D8 } from './d8-order.ts'
import { D12 } from './d12-media-type.ts'
import { D14 } from './d14-problems.ts'
import { D15 } from './d15-snapshot.ts'
import { D16 } from './d16-caching.ts'
import { D17 } from './d17-base-url.ts'

/** All rules, in the order in which a report has them. */
export const RULES: readonly Rule[] = [
  ...[C1, C2, C3, C4, C5, C6, C7, C8, C9, C10],
  ...[D1, D2, D3, D4, D5, D6, D7, D8, D9, D10, D11, D12, D13, D14, D15, D16, D17],
]
