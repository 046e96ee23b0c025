/** More of the restarts that `npm test` tries. */

import { describeRestarts } from './describe-restarts.ts'

describeRestarts(8)
