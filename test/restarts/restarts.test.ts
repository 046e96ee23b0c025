import { describeRestarts } from './describe-restarts.ts'

// So each server is restarted once.
describeRestarts(2)
