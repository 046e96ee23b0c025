/** All questions, in the order in which they run: the imports first, because their rounds make what the others share. */

import type { Question } from '../question.ts'
import { APPENDS } from './appends.ts'
import { BACKUP } from './backup.ts'
import { BIG_REQUESTS } from './big-requests.ts'
import { BYTES } from './bytes.ts'
import { CHANGES_PAGES } from './changes-pages.ts'
import { CITUS_AWAY } from './citus-away.ts'
import { CITUS_COLLECTIONS } from './citus-collections.ts'
import { CITUS_PAGES } from './citus-pages.ts'
import { CITUS_WRITES } from './citus-writes.ts'
import { COLD_PAGE } from './cold-page.ts'
import { COLD_PAGES } from './cold-pages.ts'
import { DEPTH } from './depth.ts'
import { FOLLOW } from './follow.ts'
import { FORMS } from './forms.ts'
import { GROWTH } from './growth.ts'
import { HAND_WRITTEN } from './hand-written.ts'
import { HISTORY_COST } from './history-cost.ts'
import { HOLES } from './holes.ts'
import { HOT_PAGE } from './hot-page.ts'
import { IDLE_CONNECTIONS } from './idle-connections.ts'
import { IMPORT } from './import.ts'
import { IMPORT_CORES } from './import-cores.ts'
import { IMPORT_MEMORY } from './import-memory.ts'
import { JSON_SERVER } from './json-server.ts'
import { LOGGING } from './logging.ts'
import { MIRROR } from './mirror.ts'
import { OVERLOAD } from './overload.ts'
import { PATCH } from './patch.ts'
import { PG_APPENDS } from './pg-appends.ts'
import { PG_DEPTH } from './pg-depth.ts'
import { PG_HISTORY_COST } from './pg-history-cost.ts'
import { PG_HOLES } from './pg-holes.ts'
import { PG_HOT } from './pg-hot.ts'
import { PG_IMPORT } from './pg-import.ts'
import { PG_NEIGHBOURS } from './pg-neighbours.ts'
import { PG_OFFSET } from './pg-offset.ts'
import { PG_PAGES } from './pg-pages.ts'
import { PG_SNAPSHOT_PAGES } from './pg-snapshot-pages.ts'
import { PULL } from './pull.ts'
import { PULL_LATENCY } from './pull-latency.ts'
import { PULL_MEMORY } from './pull-memory.ts'
import { READS_WHILE_WRITING } from './reads-while-writing.ts'
import { REPLACE_DELETE } from './replace-delete.ts'
import { SERVER_MEMORY } from './server-memory.ts'
import { SIZE } from './size.ts'
import { SLOW_CLIENTS } from './slow-clients.ts'
import { SLOW_DISK } from './slow-disk.ts'
import { SNAPSHOT_PAGES } from './snapshot-pages.ts'
import { TABLE_IMPORT } from './table-import.ts'
import { WAIT } from './wait.ts'
import { WORKERS } from './workers.ts'

export const QUESTIONS: readonly Question[] = [
  IMPORT,
  IMPORT_MEMORY,
  IMPORT_CORES,
  BYTES,
  DEPTH,
  SIZE,
  COLD_PAGE,
  SERVER_MEMORY,
  HAND_WRITTEN,
  GROWTH,
  JSON_SERVER,
  HOT_PAGE,
  FORMS,
  LOGGING,
  COLD_PAGES,
  WORKERS,
  HOLES,
  APPENDS,
  SLOW_DISK,
  BIG_REQUESTS,
  READS_WHILE_WRITING,
  BACKUP,
  REPLACE_DELETE,
  PATCH,
  SNAPSHOT_PAGES,
  CHANGES_PAGES,
  HISTORY_COST,
  WAIT,
  SLOW_CLIENTS,
  IDLE_CONNECTIONS,
  OVERLOAD,
  PULL,
  PULL_LATENCY,
  PULL_MEMORY,
  MIRROR,
  TABLE_IMPORT,
  FOLLOW,
  PG_IMPORT,
  PG_DEPTH,
  PG_NEIGHBOURS,
  PG_PAGES,
  PG_HOT,
  PG_OFFSET,
  PG_HOLES,
  PG_APPENDS,
  PG_SNAPSHOT_PAGES,
  PG_HISTORY_COST,
  CITUS_WRITES,
  CITUS_PAGES,
  CITUS_COLLECTIONS,
  CITUS_AWAY,
]
