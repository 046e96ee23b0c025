import { runSample } from '../sample.ts'
import { HOSTILE } from './hostile-cases.ts'

runSample(HOSTILE, 0.2)
