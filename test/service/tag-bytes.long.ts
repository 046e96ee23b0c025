import { runWhole } from './whole.ts'

await runWhole('tag-bytes.test.ts')
