import assert from 'node:assert/strict'
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it } from 'node:test'
import { copyStoreFile } from '../../src/store/sqlite/file/copy-file.ts'
import { openReadConnection, openWriteConnection } from '../../src/store/sqlite/file/store-file.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { isError, item, itemsFrom, keyed } from './items.ts'
import { changeRows } from './sqlite-rows.ts'

/** A commit has synced the log before it returns. */
const FULL = 2

/** Never returns a row, and never ends. */
const ENDLESS = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)'

/** Changes the text of a statement in the schema. */
const edit = (name: string, from: string, to: string) => `
  PRAGMA writable_schema = ON;
  UPDATE sqlite_schema SET sql = replace(sql, '${from.replaceAll("'", "''")}', '${to.replaceAll("'", "''")}') WHERE name = '${name}';
  PRAGMA writable_schema = RESET`

const FOREIGN: readonly (readonly [what: string, sql: string, object: string])[] = [
  ['a trigger', 'CREATE TRIGGER undo AFTER INSERT ON token BEGIN DELETE FROM head; END', 'trigger "undo", which Reams'],
  ['a table', 'CREATE TABLE mine (a)', 'table "mine", which Reams does not create'],
  ['an index', 'CREATE INDEX mine ON token (name)', 'index "mine", which Reams does not create'],
  ['a view', 'CREATE VIEW mine AS SELECT 1', 'view "mine", which Reams does not create'],
  ['a virtual table', 'CREATE VIRTUAL TABLE mine USING fts5(a)', 'virtual table "mine", which Reams'],
  [
    'a view in place of a table, which never ends',
    `DROP TABLE head; CREATE VIEW head AS ${ENDLESS} SELECT i AS name, i AS live FROM n WHERE i < 0`,
    'view "head", which Reams does not create',
  ],
  ['a name that moves the cursor', 'CREATE VIEW "\u001b[2J\u009b\n" AS SELECT 1', 'view "\\u001b[2J\\u009b\\n", which'],
  [
    'a check',
    edit('tail', 'NOT NULL', 'NOT NULL CHECK (abs(1) = 1)'),
    'table "tail", which is not as Reams creates it',
  ],
  [
    'a generated column',
    edit('head', 'key_field     TEXT,', 'key_field TEXT AS (name),'),
    'table "head", which is not as Reams creates it',
  ],
  [
    'a partial index',
    edit('request_log_by_age', '(at)', '(at) WHERE at > 5'),
    'index "request_log_by_age", which is not as Reams creates it',
  ],
  [
    'a check hidden after what looks like a comment',
    edit(
      'lease',
      "boot          TEXT    NOT NULL DEFAULT ''",
      "boot TEXT NOT NULL DEFAULT '--' CHECK (abs(1) = 1) /*\n*/",
    ),
    'table "lease", which is not as Reams creates it',
  ],
  [
    'a statement that would take hours to compare',
    edit('tail', 'WITHOUT ROWID', `WITHOUT ROWID ${'/* '.repeat(300_000)}`),
    'table "tail", which is not as Reams creates it',
  ],
]

describe('the schema of an SQLite file', () => {
  let directory: string
  let template: string
  let files = 0
  const newPath = (): string => join(directory, `${++files}.db`)
  /** A store whose schema was changed by another program. */
  const changedBy = (sql: string): string => {
    const path = newPath()
    copyFileSync(template, path)
    using database = new DatabaseSync(path, { defensive: false })
    database.exec(sql)
    return path
  }

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'reams-test-'))
    template = newPath()
    const store = await openSqliteStore({ path: template, create: true })
    await store.create('events', { keyField: 'id' })
    await store.append('events', keyed(itemsFrom(0, 3)))
    await store.close()
  })
  after(() => rmSync(directory, { recursive: true, force: true }))

  for (const [what, sql, object] of FOREIGN)
    it(`with ${what} is refused by name, and nothing is read or changed`, async () => {
      const path = changedBy(sql)
      const bytes = readFileSync(path)
      const refused = isError('corrupt', new RegExp(RegExp.escape(`${path} has the ${object}`)))
      for (const create of [false, true]) await assert.rejects(openSqliteStore({ path, create }), refused)
      await assert.rejects(copyStoreFile(path, newPath()), refused)
      assert.throws(() => openReadConnection(path), refused)
      assert.throws(() => openWriteConnection(path), refused)
      assert.deepEqual(readFileSync(path), bytes)
    })

  it('that SQLite cannot parse is reported as damage, with the name', async () => {
    const path = changedBy(edit('tail', 'tail (', 'tail ((('))
    await assert.rejects(openSqliteStore({ path }), isError('corrupt', /damaged: malformed database schema \(tail\)/))
  })

  it('may have the tables of ANALYZE, and other comments', async () => {
    const path = changedBy(`ANALYZE; ${edit('head', '-- Of a mirror', '/* ; */ -- "Mirrors"')}`)
    const store = await openSqliteStore({ path })
    assert.deepEqual((await store.verify()).findings, [])
    await store.append('events', keyed([item(9)]))
    await store.close()
  })

  it('is checked by every connection that is opened later, also those of threads', async () => {
    const path = changedBy('SELECT 1')
    const store = await openSqliteStore({ path })
    changeRows(path, 'CREATE TRIGGER undo AFTER INSERT ON tail BEGIN DELETE FROM head; END')
    const refused = isError('corrupt', /has the trigger "undo"/)
    const readAll = async () => {
      for await (const _segment of store.items('events'));
    }
    for (const call of [
      () => store.append('events', keyed([item(9)])),
      () => store.verify(),
      () => store.ping(),
      readAll,
    ])
      await assert.rejects(call(), refused)
    changeRows(path, 'DROP TRIGGER undo')
    assert.equal((await store.head('events'))?.live, 3)
    await store.append('events', keyed([item(9)]))
    await store.close()
  })

  it('is not trusted: connections are defensive, and run no functions from it; those that write wait for the disk', () => {
    for (const open of [openReadConnection, openWriteConnection]) {
      using database = open(template)
      assert.equal(database.prepare('PRAGMA trusted_schema').get()?.['trusted_schema'], 0)
      database.exec('PRAGMA writable_schema = ON')
      assert.throws(() => database.exec("UPDATE sqlite_schema SET sql = ''"), /may not be modified/)
    }
    using writing = openWriteConnection(template)
    assert.equal(writing.prepare('PRAGMA synchronous').get()?.['synchronous'], FULL)
    assert.equal(writing.prepare('PRAGMA journal_mode').get()?.['journal_mode'], 'wal')
  })
})
