import { runWhole } from '../whole.ts'

await runWhole('node/hostile-clients.test.ts')
