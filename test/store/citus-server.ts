/** The Citus for tests: a coordinator with two workers at least, and a user that may do everything. */

export const citusUrl = process.env['REAMS_TEST_CITUS'] ?? ''

export const NO_CITUS = citusUrl === '' && 'REAMS_TEST_CITUS names no Citus'

/** It was there before the tests, and stays. */
export const CITUS = { url: citusUrl, stop: async () => {} }
