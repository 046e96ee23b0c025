import { runAll } from '../sample.ts'
import { CHANGED } from './changing-cases.ts'
import { CORRECT } from './correct-cases.ts'
import { HOSTILE } from './hostile-cases.ts'
import { CAUGHT } from './mutants/caught.ts'

runAll([...CAUGHT, ...HOSTILE, ...CORRECT, ...CHANGED])
