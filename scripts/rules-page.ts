/** The reference page about the rules of the checker, its verdicts and its reports. */

import { RULES, type Rule } from '../src/check/index.ts'
import { fenced, type Page, table } from './page.ts'

export function rulesPage(): Page {
  return {
    title: 'Rules',
    blocks: [
      '`reams check URL` asks a server as the rules of [the contract](contract.md) want it, and says which of them it keeps. The server can be written in anything. `reams check --explain C7` prints what this page says about a rule. That the rules find what they are made for is shown by [mutants](mutants.md).',
      'C rules are those of the contract: they decide. D rules fill its gaps; a server may fill them otherwise, and gets a warning, unless [`--strict`](settings.md#--strict) lets them decide too.',
      table(
        ['exit status', 'verdict'],
        [
          ['0', 'kept: no rule that decides is broken'],
          ['1', 'broken: at least one is'],
          ['2', 'used wrongly: a URL, a flag or a token that is none'],
          [
            '3',
            'could not judge: no answer, no JSON at all, or the limits of the run reached before every rule that decides was tried',
          ],
        ],
      ),
      'A check sends `GET`, `HEAD` and `OPTIONS`, at most 60 of them per collection, four at a time ([`--concurrency`](settings.md#--concurrency)), and waits when the server answers 429. It needs no data in advance. When the data changes meanwhile, it says so and tries again what the change may have broken. The URL is that of a collection, or of an entry point, whose collections are then checked; with [`--collection`](settings.md#--collection) it is the base URL.',
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

function ruleSection({ id, title, why, hurts, right, wrong }: Rule): string[] {
  return [
    `## ${id}`,
    `**${prose(title)}**`,
    prose(why),
    `Hurts: ${prose(hurts)}`,
    'Right:',
    fenced(right, 'text'),
    'Wrong:',
    fenced(wrong, 'text'),
  ]
}

const WALK: readonly string[] = [
  '## A walk',
  'Without more a check reads a sample of the pages: both ends, their neighbours and one in the middle. [`--walk`](settings.md#--walk) reads all of them, in addition to its other requests: every page but the last holds 500 items, together they hold `item_count` items, `next` and `prev` lead to each other’s page, and each page is the one that was asked for. An item that stands there twice, by a field that is unique everywhere else, breaks C2; one that repeats by its content alone gives a warning, because equal items are legal.',
  'Its memory is bounded. Beside the pages under way it keeps fingerprints of the items in at most four tables of at most 32 MB each (for a moment twice that, while one grows). Up to 1.4 million items every repeat is found; beyond that the tables keep a share of the fingerprints, and find the same share of the repeats. A walk through 4 million items of 110 bytes (`reams check URL --walk`) took 500 MB at its peak, most of it pages that were done with and not yet cleared away.',
]

/** Every field of the report. A test holds it against a real one. */
const REPORT_FIELDS: readonly (readonly [path: string, type: string, meaning: string])[] = [
  ['format', '1', 'the number of this format'],
  ['url', 'string', 'what was to be checked'],
  ['verdict', '`kept`, `broken` or `unjudged`', 'what the exit status says'],
  ['requests', 'number', 'how many were sent in all'],
  ['notes[]', 'strings', 'what a reader should know about the whole run: what an entry point links and was left out'],
  ['collections[]', 'objects', 'the collections that were checked, in their order'],
  ['collections[].url', 'string', ''],
  ['collections[].paginated', 'boolean', 'absent where that could not be found out'],
  ['collections[].item_count', 'number', 'as the first answer gave it; absent where it gave none'],
  ['collections[].requests', 'number', 'how many were sent for this one'],
  ['collections[].notes[]', 'strings', 'what a reader should know: that the data changed, that there are no pages'],
  ['rules[]', 'objects', 'every rule for every collection'],
  ['rules[].id', 'string', '`C7`'],
  ['rules[].title', 'string', 'the rule in one sentence'],
  ['rules[].status', '`pass`, `fail`, `warn` or `skip`', ''],
  ['rules[].detail', 'string', 'what was expected and what came, or why it was skipped; empty for a pass'],
  ['rules[].request', 'string or null', 'the `curl` line that shows it'],
  ['rules[].collection', 'string', 'the URL of the collection'],
  ['rules[].hurts', 'string', 'who is hurt; empty where nothing is wrong'],
  ['rules[].judged', 'boolean', 'false where the rule applies, but could not be tried'],
  ['rules[].decides', 'boolean', 'whether the verdict depends on it: C rules, with `--strict` all'],
  ['rules[].findings[]', 'objects', 'everything that was found, in a failure or a warning'],
  ['rules[].findings[].request', 'string', 'the `curl` line'],
  ['rules[].findings[].expected', 'string', ''],
  ['rules[].findings[].came', 'string', ''],
  ['summary.pass', 'number', 'rules with this status, in all collections together'],
  ['summary.fail', 'number', ''],
  ['summary.warn', 'number', ''],
  ['summary.skip', 'number', ''],
]

const JSON_REPORT: readonly string[] = [
  '## The report as JSON',
  '`--format json` prints the report as one JSON document. `checkConformance` of `reams/check` gives the same as an object. The form is stable: within format 1 fields are only added, so leave alone those that you do not know. A token never stands in it: in the `curl` lines it is `$REAMS_TOKEN`.',
  table(
    ['field', 'type', ''],
    REPORT_FIELDS.map(([path, type, meaning]) => [`\`${path}\``, type, meaning]),
  ),
]

/** Text of the code as Markdown shows it. */
function prose(text: string): string {
  return text.replace(/[<*]/g, '\\$&')
}
