import { runAll } from '../sample.ts'
import { CAUGHT } from './mutants/caught.ts'

runAll(CAUGHT)
