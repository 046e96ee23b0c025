import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it, type TestContext } from 'node:test'
import { openSqliteTable } from '../../src/tables/sqlite.ts'
import { storedLines } from '../cli/items.ts'
import { runCli, runInside, startServer, workDirectory } from '../cli/run-cli.ts'
import { lackOfOtherUser, withoutRights } from '../other-user.ts'
import { inOrder, itRefuses, query, quotedNames, sumOf, type Wrong } from './importing.ts'

/** A directory with an SQLite file that the statements have made. */
function directoryWith(t: TestContext, sql: string): { directory: string; database: DatabaseSync } {
  const directory = workDirectory(t)
  const database = new DatabaseSync(join(directory, 'shop.db'))
  t.after(() => {
    if (database.isOpen) database.close()
  })
  database.exec(sql)
  return { directory, database }
}

const runImport = (directory: string, ...words: string[]) =>
  runInside(['import', 'events', '--from', 'shop.db', ...words], { in: directory })

async function imported(directory: string, ...words: string[]): Promise<string> {
  const { status, stderr } = await runImport(directory, ...words)
  assert.deepEqual([stderr, status], ['', 0])
  return storedLines(directory, 'events')
}

describe('rows of SQLite', () => {
  it('have every type, exactly', async (t) => {
    const values: Readonly<Record<string, readonly [sql: string, json: string]>> = {
      small: ['-7', '-7'],
      large: ['9223372036854775807', '9223372036854775807'],
      lowest: ['-9223372036854775808', '-9223372036854775808'],
      real: ['0.1 + 0.2', '0.30000000000000004'],
      whole: ['2.0', '2.0'],
      negative: ['-0.0', '0.0'],
      huge: ['1e300', '1e+300'],
      endless: ['-9e999', '"-Infinity"'],
      text: [`'a' || char(10) || '"\\' || char(0, 1, 8232, 128512)`, JSON.stringify('a\n"\\\0\u0001\u2028😀')],
      empty: ["''", '""'],
      nothing: ['NULL', 'null'],
      bytes: ["x'deadbeef00'", '"3q2+7wA="'],
      noBytes: ["x''", '""'],
      json: [`'{"a": 1}'`, JSON.stringify('{"a": 1}')],
      'Odd "name" é': ['1', '1'],
    }
    const names = quotedNames(Object.keys(values))
    const { directory } = directoryWith(
      t,
      `CREATE TABLE types (id INTEGER PRIMARY KEY, ${names}, made AS (id * 2), kept AS (id || 'x') STORED);
       INSERT INTO types (id, ${names}) VALUES (1, ${Object.values(values).map(([sql]) => sql)})`,
    )
    const fields = Object.entries(values).map(([name, [, json]]) => `${JSON.stringify(name)}:${json}`)
    assert.equal(await imported(directory, '--table', 'types'), `{"id":1,${fields.join(',')},"made":2,"kept":"1x"}\n`)
  })

  it('are in the order of the primary key, which is the key of the collection, or as they are told', async (t) => {
    const { directory } = directoryWith(
      t,
      `CREATE TABLE "Events" (code TEXT PRIMARY KEY, n INT) WITHOUT ROWID;
       INSERT INTO "Events" VALUES ('b', 1), ('a', 2);
       CREATE VIEW few AS SELECT n, code FROM "Events" WHERE n = 2`,
    )
    assert.equal(await imported(directory, '--table', 'main.events'), '{"code":"a","n":2}\n{"code":"b","n":1}\n')
    const { stdout } = await runInside(['collections'], { in: directory })
    assert.match(stdout, /events +2 +1 +code/)
    const replace = (...words: string[]) => imported(directory, '--replace', ...words)
    assert.equal(await replace('--table', 'EVENTS', '--order', 'n'), '{"code":"b","n":1}\n{"code":"a","n":2}\n')
    assert.equal(await replace('--table', 'few'), '{"n":2,"code":"a"}\n')
    assert.equal(
      await replace('--query', 'SELECT n, code FROM events ORDER BY n DESC -- all; '),
      '{"n":2,"code":"a"}\n{"n":1,"code":"b"}\n',
    )
  })

  it('leave a collection without a key as it is, whatever their primary key', async (t) => {
    const { directory } = directoryWith(
      t,
      `CREATE TABLE seats (hall TEXT, number INT, PRIMARY KEY (hall, number)); INSERT INTO seats VALUES ('A', 12)`,
    )
    await imported(directory, '--query', 'SELECT * FROM seats')
    await imported(directory, '--table', 'seats', '--replace')
    assert.match((await runInside(['collections'], { in: directory })).stdout, /events +1 +1 +-/)
  })

  it('are of one moment, also while others write', async (t) => {
    const { directory, database } = directoryWith(
      t,
      `PRAGMA journal_mode = WAL; CREATE TABLE accounts (id INTEGER PRIMARY KEY, amount INT);
       WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 20000) INSERT INTO accounts SELECT i, 100 FROM n`,
    )
    const move = database.prepare(
      'UPDATE accounts SET amount = amount + CASE WHEN id = 1 THEN 1 ELSE -1 END WHERE id IN (1, 20000)',
    )
    let moves = 0
    const writing = setInterval(() => {
      move.run()
      moves++
    }, 1)
    const lines = await imported(directory, '--table', 'accounts').finally(() => clearInterval(writing))
    assert.equal(sumOf(lines, 'amount'), 2_000_000)
    assert.ok(moves > 0)
  })

  it('have the columns that were found, or there are none at all', async (t) => {
    const { directory, database } = directoryWith(t, 'CREATE TABLE t (a, b, c); INSERT INTO t VALUES (1, 2, 3)')
    const path = join(directory, 'shop.db')
    await using table = await openSqliteTable(path, { table: 't' }, new AbortController().signal)
    database.exec('ALTER TABLE t DROP COLUMN a')
    await assert.rejects(Array.fromAsync(table.rows()), {
      name: 'TableError',
      message: `t in ${path}: its columns were changed a moment ago. Try again.`,
    })
  })

  describe('of a file in WAL mode', () => {
    const filesBeside = (directory: string) => readdirSync(directory).filter((name) => name.startsWith('shop.db'))
    const SHOP = `PRAGMA journal_mode = WAL; CREATE TABLE events (id INTEGER PRIMARY KEY); INSERT INTO events VALUES (7)`

    it('leave the file as it was, and nothing beside it', async (t) => {
      const { directory, database } = directoryWith(t, SHOP)
      database.close()
      const before = readFileSync(join(directory, 'shop.db'))
      await imported(directory, '--table', 'events')
      assert.equal((await runImport(directory, '--table', 'nope')).status, 2)
      assert.deepEqual(filesBeside(directory), ['shop.db'])
      assert.deepEqual(readFileSync(join(directory, 'shop.db')), before)
      assert.equal((await runImport(directory, '--from', 'reams.db', '--table', 'nope')).status, 2)
      assert.deepEqual(
        readdirSync(directory).filter((name) => /^reams\.db-/.test(name)),
        [],
      )
    })

    it('leave what belongs to others who have it open', async (t) => {
      const { directory, database } = directoryWith(t, SHOP)
      assert.equal(await imported(directory, '--table', 'events'), '{"id":7}\n')
      assert.deepEqual(filesBeside(directory), ['shop.db', 'shop.db-shm', 'shop.db-wal'])
      database.exec('INSERT INTO events VALUES (8)')
      assert.equal(await imported(directory, '--replace', '--table', 'events'), '{"id":7}\n{"id":8}\n')
    })

    it('come to one who may only read it while its owner has it open, and else do not', {
      skip: lackOfOtherUser(),
    }, async (t) => {
      const { directory, database } = directoryWith(t, SHOP)
      chmodSync(directory, 0o777)
      for (const name of filesBeside(directory)) chmodSync(join(directory, name), 0o444)
      const run = () =>
        runCli(['import', 'events', '--from', 'shop.db', '--table', 'events'], { in: directory, ...withoutRights() })
      assert.equal((await run()).stderr, '')
      assert.deepEqual(filesBeside(directory), ['shop.db', 'shop.db-shm', 'shop.db-wal'])
      database.close()
      assert.deepEqual(filesBeside(directory), ['shop.db'])
      const { status, stderr } = await run()
      assert.match(stderr, /shop\.db is in WAL mode, and you may not write to it: .* Copy it/)
      assert.equal(status, 3)
      assert.deepEqual(filesBeside(directory), ['shop.db'])
    })
  })

  it('come from a table with quotes in its name', async (t) => {
    const { directory } = directoryWith(t, 'CREATE TABLE "a""b" (x); INSERT INTO "a""b" VALUES (1)')
    assert.equal(await imported(directory, '--table', '"a""b"'), '{"x":1}\n')
    assert.equal(await imported(directory, '--replace', '--table', '"main"."a""b"'), '{"x":1}\n')
  })

  it('are about as many as their numbers span, unless the file has no room for them', async (t) => {
    const { directory, database } = directoryWith(
      t,
      `CREATE TABLE events (id INTEGER PRIMARY KEY);
       WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO events SELECT i FROM n`,
    )
    const expected = async () => {
      const { signal } = new AbortController()
      await using table = await openSqliteTable(join(directory, 'shop.db'), { table: 'events' }, signal)
      return table.estimatedRows
    }
    assert.equal(await expected(), 5000)
    database.exec('INSERT INTO events VALUES (1000000000)')
    assert.equal(await expected(), undefined)
  })

  /** An `a`, and half of a pair. */
  const brokenTexts = { 'UTF-8': '61eda0bd', 'UTF-16le': '61003dd8', 'UTF-16be': '0061d83d' }
  for (const [encoding, bytes] of Object.entries(brokenTexts))
    it(`have the characters of ${encoding}, also U+FFFD, or are refused`, async (t) => {
      const { directory, database } = directoryWith(
        t,
        `PRAGMA encoding = '${encoding}'; CREATE TABLE texts (x, "X:1", y);
         INSERT INTO texts VALUES (char(65533), x'ff', 1), ('é' || char(0), NULL, char(128512))`,
      )
      assert.equal(
        await imported(directory, '--table', 'texts'),
        `{"x":"\ufffd","X:1":"/w==","y":1}\n{"x":"é\\u0000","X:1":null,"y":"😀"}\n`,
      )
      database.exec(`INSERT INTO texts VALUES ('ok', 2, CAST(x'${bytes}' AS TEXT))`)
      const { status, stderr } = await runImport(directory, '--replace', '--table', 'texts', '--order', 'y IS 1, x')
      assert.match(stderr, /texts in shop\.db, row 1: the text in "y" is not valid UTF-.*CAST\(… AS BLOB\)/)
      assert.equal(status, 1)
    })

  it('are served at once', async (t) => {
    const { directory } = directoryWith(
      t,
      `CREATE TABLE a (id INTEGER PRIMARY KEY); INSERT INTO a VALUES (7);
       CREATE TABLE seats (price INT, hall TEXT, number INT, PRIMARY KEY (hall, number));
       INSERT INTO seats VALUES (5, 'A', 12); CREATE TABLE "It's odd" (x)`,
    )
    const tables = ['a', 'seats', "It's odd"].flatMap((name) => ['--table', name])
    const server = await startServer(t, ['--from', 'shop.db', ...tables], { in: directory })
    assert.deepEqual((await (await server.get('/a/7')).json()).id, 7)
    assert.equal((await (await server.get('/seats/A,12')).json()).price, 5)
    assert.equal((await (await server.get('/it-s-odd')).json()).item_count, 0)
    const served = await startServer(t, ['--from', 'shop.db', '--query', 'SELECT 1 AS one'], { in: directory })
    assert.equal((await (await served.get('/query')).json()).item_count, 1)
    const twice = await runInside(['serve', '--from', 'shop.db', '--table', 'a', '--table', 'main.A'], {
      in: directory,
    })
    assert.match(twice.stderr, /a and main\.A would both be the collection "a"\. Import each under a name of your own/)
  })

  it('are served only of tables that are named: without a name, the command for each table is shown', async (t) => {
    const { directory } = directoryWith(t, `CREATE TABLE a (x); CREATE VIEW "It's odd" AS SELECT 1 AS one`)
    const { status, stdout, stderr } = await runInside(['serve', '--from', 'shop.db'], { in: directory })
    assert.equal(status, 2)
    assert.equal(stdout, `reams serve --from shop.db --table 'It'\\''s odd'\nreams serve --from shop.db --table a\n`)
    assert.match(stderr, /^reams: Say what to serve from shop\.db: --table NAME.* its 2 tables are on stdout\.\n$/)
    const json = await runInside(['serve', '--from', 'shop.db', '--json'], { in: directory })
    assert.deepEqual([json.status, json.stdout], [2, ''])
    assert.match(json.stderr, /^reams serve --from shop\.db --table .* on stderr\.\n$/s)
    const empty = new DatabaseSync(join(directory, 'empty.db'))
    empty.exec('VACUUM')
    empty.close()
    const none = await runInside(['serve', '--from', 'empty.db'], { in: directory })
    assert.deepEqual([none.status, none.stdout], [2, ''])
    assert.match(none.stderr, /There are no tables in empty\.db that can be read\./)
  })

  describe('are refused', () => {
    const wrong: Wrong = {
      2: [
        [['--table', 'nope'], /There is no table nope in shop\.db\. There are events, keyless\.\n$/],
        [query('SELECT nope FROM events'), /no such column: nope\. Check the query/],
        [inOrder('nope'), /events in shop\.db: no such column: nope\. There are id, x\.\n$/],
        [inOrder('id; SELECT 1'), /near ";": syntax error\. Check --table and --order/],
        [inOrder('id LIMIT 1'), /near "LIMIT": syntax error\. Check --table and --order/],
        [
          query('SELECT * FROM events', '--order', 'id LIMIT 1 OFFSET 3'),
          /near "LIMIT": syntax error\. Check --order and the query/,
        ],
        [query('SELECT 1 AS a; DELETE FROM events'), /syntax error.*one SELECT/],
        [query('SELECT 1 AS a; -- one'), /one SELECT\. Nothing can follow its semicolon, not even a comment\./],
        [query('SELECT ?1 AS a'), /the query in .*no values for parameters such as/],
        [inOrder(':a'), /no values for parameters such as/],
        [query('DELETE FROM events'), /syntax error.*one SELECT/],
        [query('SELECT 1 AS a, 2 AS a'), /two columns named "a"/],
        [query("SELECT json_extract('{', '$') AS x"), /malformed JSON/],
      ],
      1: [
        [
          query('SELECT 5 AS id, hex(zeroblob(200000)) AS x'),
          /row 1: the item has .* bytes, the limit is 262,144; .* or raise the limit .* item-bytes, up to 1,048,576: .\{"id":5,/,
        ],
        [
          query('SELECT hex(zeroblob(600000)) AS x', '--item-bytes', '1048576'),
          /the limit is 1,048,576; make it smaller: no item can have more than 1,048,576: /,
        ],
      ],
    }
    const refused = async (t: TestContext, ...words: string[]) => {
      const { directory, database } = directoryWith(
        t,
        'CREATE TABLE events (id INTEGER PRIMARY KEY, x); INSERT INTO events VALUES (1, 2); CREATE TABLE keyless (k)',
      )
      const result = await runImport(directory, ...words)
      assert.deepEqual(Object.values(database.prepare('SELECT * FROM events').get() ?? {}), [1, 2])
      return result
    }
    itRefuses(wrong, refused)

    it('with a primary key whose values are no keys, and a way out', async (t) => {
      const { directory } = directoryWith(
        t,
        `CREATE TABLE prices (price REAL PRIMARY KEY, id); INSERT INTO prices VALUES (1.5, 1);
         CREATE TABLE names (name TEXT PRIMARY KEY); INSERT INTO names VALUES (NULL)`,
      )
      const said = async (...words: string[]) => (await runImport(directory, ...words)).stderr
      const wayOut =
        /row 1: the key field .*\. The key is the primary key .* --key, .*: --query 'SELECT \* FROM (\w+)'\. N/
      assert.equal(wayOut.exec(await said('--table', 'prices'))?.[1], 'prices')
      assert.equal(wayOut.exec(await said('--table', 'names'))?.[1], 'names')
      assert.match(await said('--table', 'prices', '--key', 'price'), /fraction.*`\. Nothing was imported\.\n$/)
      assert.equal(await said('--query', 'SELECT * FROM prices'), '')
    })

    it('of a file whose writer was killed', async (t) => {
      const { directory, database } = directoryWith(
        t,
        `CREATE TABLE events (id INTEGER PRIMARY KEY, title TEXT); PRAGMA cache_size = 1;
         WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO events SELECT i, i FROM n;
         BEGIN; UPDATE events SET title = title || '!'`,
      )
      for (const end of ['', '-journal'])
        copyFileSync(join(directory, `shop.db${end}`), join(directory, `killed.db${end}`))
      database.exec('ROLLBACK')
      const { status, stderr } = await runImport(directory, '--from', 'killed.db', '--table', 'events')
      assert.match(stderr, /events in killed\.db: .*\. Either its last writer was killed: open it once/)
      assert.equal(status, 3)
    })

    it('of files that are none of SQLite', async (t) => {
      const directory = workDirectory(t)
      const from = async (path: string) => {
        const { status, stderr } = await runInside(['import', 'events', '--from', path, '--table', 'x'], {
          in: directory,
        })
        assert.equal(status, 2)
        return stderr
      }
      writeFileSync(join(directory, 'x.csv'), 'a,b\n'.repeat(1000))
      assert.match(await from('x.csv'), /x\.csv is no SQLite file\..*reams import NAME x\.csv\n$/)
      assert.match(await from('nope.db'), /There is no file nope\.db/)
      assert.match(await from('.'), /is not a file/)
      execFileSync('mkfifo', [join(directory, 'pipe')])
      assert.match(await from('pipe'), /pipe is not a file: expected an SQLite file/)
      assert.match(await from('oracle://a:b@c/d'), /not a oracle:\/\/ URL/)
      await runInside(['import', 'events', '-'], { in: directory, input: '{}' })
      assert.match(
        await from('reams.db'),
        /is a store of Reams\. Copy its collections with: reams copy --from reams\.db/,
      )
    })

    it('of a file that may not be read', { skip: lackOfOtherUser() }, async (t) => {
      const { directory } = directoryWith(t, 'CREATE TABLE events (a)')
      chmodSync(join(directory, 'shop.db'), 0)
      const words = ['import', 'events', '--from', 'shop.db', '--table', 'events']
      const { stderr } = await runCli(words, { in: directory, ...withoutRights() })
      assert.match(stderr, /cannot be opened/)
    })
  })
})
