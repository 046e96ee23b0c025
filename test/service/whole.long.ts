import { runWhole } from './whole.ts'

await runWhole('examples.test.ts', 'page-cuts.test.ts', 'restored-store.test.ts', 'node/joined-head.test.ts')
