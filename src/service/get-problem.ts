/** `GET /-/problems/<name>`: what the `type` of a problem leads to (D14). */

import { problemUrl } from '../contract/link.ts'
import { isProblemName, PROBLEMS } from '../contract/problem.ts'
import { foundByContent, PUBLIC } from './answer.ts'
import { type Call, segmentsOf } from './call.ts'
import { pathNotFound } from './not-found.ts'
import type { Reply } from './reply.ts'

export function getProblem(call: Call): Reply {
  const [, , name = ''] = segmentsOf(call)
  if (!isProblemName(name)) return pathNotFound(call)
  const description = { type: problemUrl(call.baseUrl, name), ...PROBLEMS[name] }
  const body = Buffer.from(`${JSON.stringify(description, null, 2)}\n`)
  return foundByContent(call.request, body, 'application/json', PUBLIC)
}
