/** Readers by autocannon: run as `autocannon-load.ts PLAN`, prints the rate. */

import autocannon from 'autocannon'

const { url, headers, pages, connections, seconds, timeoutSeconds } = JSON.parse(process.argv[2] ?? '{}')
const { pathname } = new URL(url)
const setupRequest = (request: object) => ({
  ...request,
  path: `${pathname}?page=${1 + Math.floor(Math.random() * pages)}`,
})
const result = await autocannon({
  url,
  headers,
  connections,
  duration: seconds,
  timeout: timeoutSeconds,
  ...(pages !== undefined && { requests: [{ setupRequest }] }),
})
if (result.errors > 0 || result['4xx'] + result['5xx'] > 0) throw new Error('Not all went well.')
console.log(JSON.stringify({ requestsASecond: result.requests.total / result.duration, p99Ms: result.latency.p99 }))
