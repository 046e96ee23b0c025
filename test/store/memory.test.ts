import { describeHistory } from './describe-history.ts'
import { describeStore } from './describe-store.ts'
import { MEMORY_ENGINE } from './memory-engine.ts'

describeStore('memory', MEMORY_ENGINE)
describeHistory('memory', MEMORY_ENGINE)
