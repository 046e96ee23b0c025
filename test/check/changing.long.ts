import { runAll } from '../sample.ts'
import { CHANGED } from './changing-cases.ts'

runAll(CHANGED)
