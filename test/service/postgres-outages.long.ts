import { runWhole } from './whole.ts'

await runWhole('postgres-outages.test.ts')
