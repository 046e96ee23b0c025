/** Writes the reference page about the rules of the checker, its exit status and its reports. */

import { RULES, type Rule } from '../src/check/index.ts'
import { fenced, type Page, table } from './page.ts'

export function rulesPage(): Page {
  return {
    title: 'Rules',
    blocks: [
      '`reams check URL` tests a server, written in any language, against the rules of [the contract](contract.md). `reams check --explain C7` prints what this page says about a rule. [Mutants](mutants.md) show that each rule finds the defects that it is made for.',
      'C rules are the contract: they decide whether the check passes. D rules are decisions of Reams where the contract says nothing; a server that decides differently gets a warning. With [`--strict`](settings.md#--strict), D rules decide too.',
      table(
        ['exit status', 'result', '`verdict` in JSON'],
        [
          ['0', 'passed: no rule that decides failed', '`passed`'],
          ['1', 'failed: at least one did', '`failed`'],
          ['2', 'wrong usage: an invalid URL, option or token', 'no report'],
          [
            '3',
            'undecided: no response, no JSON at all, or a limit reached before every rule that decides was judged',
            '`undecided`',
          ],
        ],
      ),
      'A check sends `GET`, `HEAD` and `OPTIONS`, at most 60 of them per collection, four at a time ([`--concurrency`](settings.md#--concurrency)), and waits when the server returns 429. It needs no test data. If the data changes during the check, the report says so, and the rules that the change may have affected are tried again. The URL is that of a collection, or of an entry point, whose collections are then checked; with [`--collection`](settings.md#--collection) it is the base URL.',
      table(
        ['rule', ''],
        RULES.map(({ id, title }) => [`[${id}](#${id.toLowerCase()})`, prose(title)]),
      ),
      ...RULES.flatMap(ruleSection),
      ...WALK,
      ...JSON_REPORT,
    ],
  }
}

function ruleSection({ id, title, why, affects, right, wrong }: Rule): string[] {
  return [
    `## ${id}`,
    `**${prose(title)}**`,
    prose(why),
    `Affects: ${prose(affects)}`,
    'Right:',
    fenced(right, 'text'),
    'Wrong:',
    fenced(wrong, 'text'),
  ]
}

const WALK: readonly string[] = [
  '## A walk',
  'By default a check reads a sample of the pages: both ends, their neighbours and one in the middle. [`--walk`](settings.md#--walk) reads all of them, in addition to its other requests: every page but the last has 500 items, together they have `item_count` items, `next` and `prev` lead to each other’s page, and each page is the one that was requested. An item that appears twice, by a field that is unique everywhere else, breaks C2; one that repeats by its content alone gives a warning, because equal items are legal.',
  'Its memory is bounded. Besides the pages being read it keeps fingerprints of the items in at most four tables of at most 32 MB each (for a moment twice that, while one grows). Up to 1.4 million items every repeat is found; beyond that the tables keep a share of the fingerprints, and find the same share of the repeats. A walk through 4 million items of 110 bytes (`reams check URL --walk`) took 500 MB at its peak, most of it pages that were waiting for garbage collection.',
]

/** Every field of the report. A test compares them with those of real reports. */
const REPORT_FIELDS: readonly (readonly [path: string, type: string, meaning: string])[] = [
  ['format', '2', 'the number of this format'],
  ['url', 'string', 'the URL that was given'],
  ['verdict', '`passed`, `failed` or `undecided`', 'the result: passed, failed or undecided'],
  ['requests', 'number', 'how many were sent in all'],
  ['notes[]', 'strings', 'about the whole run: links of an entry point that were left out'],
  ['collections[]', 'objects', 'the collections that were checked, in order'],
  ['collections[].url', 'string', ''],
  ['collections[].paginated', 'boolean', 'absent if that could not be found out'],
  ['collections[].item_count', 'number', 'of the first response; absent if it had none'],
  ['collections[].requests', 'number', 'how many were sent for this one'],
  ['collections[].notes[]', 'strings', 'about this collection: that the data changed, that it is unpaginated'],
  [
    'rules[]',
    'objects',
    'every rule for every collection; the text report shows those skipped for the same reason in one line',
  ],
  ['rules[].id', 'string', '`C7`'],
  ['rules[].title', 'string', 'the rule in one sentence'],
  ['rules[].status', '`pass`, `fail`, `warn` or `skip`', ''],
  [
    'rules[].detail',
    'string',
    'what was expected and what the server sent, or why the rule was skipped; empty for a pass',
  ],
  ['rules[].request', 'string or null', 'the `curl` command that shows it'],
  ['rules[].collection', 'string', 'the URL of the collection'],
  ['rules[].affects', 'string', 'who is affected; empty if nothing is wrong'],
  ['rules[].judged', 'boolean', 'false if the rule applies but could not be judged'],
  ['rules[].decides', 'boolean', 'whether the verdict depends on it: C rules; with `--strict`, all rules'],
  ['rules[].findings[]', 'objects', 'everything that was found, for a failure or a warning'],
  ['rules[].findings[].request', 'string', 'the `curl` command'],
  ['rules[].findings[].expected', 'string', ''],
  ['rules[].findings[].got', 'string', ''],
  ['summary.pass', 'number', 'rules with this status, in all collections together'],
  ['summary.fail', 'number', ''],
  ['summary.warn', 'number', ''],
  ['summary.skip', 'number', ''],
]

const JSON_REPORT: readonly string[] = [
  '## The report as JSON',
  '`--format json` prints the report as one JSON document. `checkConformance` of `reams/check` returns the same as an object. Within format 2 fields are only added, so ignore fields that you do not know. (Format 1 had `hurts` for `affects` and `came` for `got`.) It never contains a token: in the `curl` commands it is `$REAMS_TOKEN`.',
  table(
    ['field', 'type', ''],
    REPORT_FIELDS.map(([path, type, meaning]) => [`\`${path}\``, type, meaning]),
  ),
]

/** Escapes text for Markdown. */
function prose(text: string): string {
  return text.replace(/[<*]/g, '\\$&')
}
