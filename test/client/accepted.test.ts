import { runSample } from '../sample.ts'
import { ACCEPTED } from './accepted-cases.ts'

runSample(ACCEPTED, 0.1)
