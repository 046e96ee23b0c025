import { runAll } from '../sample.ts'
import { HOSTILE } from './hostile-cases.ts'

runAll(HOSTILE)
