import { runAll } from '../sample.ts'
import { ACCEPTED } from './accepted-cases.ts'

runAll(ACCEPTED)
