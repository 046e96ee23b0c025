import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { createConnection } from 'mysql2/promise'
import { openMysqlTable } from '../../src/tables/mysql.ts'
import type { RowsChoice, Table } from '../../src/tables/table.ts'
import { storedLines } from '../cli/items.ts'
import { type CliResult, runInside, workDirectory } from '../cli/run-cli.ts'
import { lackOf, MARIADB } from '../faults/needs.ts'
import { importing, inOrder, itRefuses, query, quotedNames, valuesOf, type Wrong } from './importing.ts'
import { MariadbServer } from './mariadb-server.ts'

/** In a URL it has to be encoded, in an option file quoted. */
const PASSWORD = `p"a#s's:w\\o@r d%`

const ESCAPED_PASSWORD = PASSWORD.replace(/['\\]/g, '\\$&')

const ODD_TEXT = 'a\n\r\t"\'\\\0\u0001\u2028é😀'

/** Type, a value, and the JSON of it. */
const TYPES: Readonly<Record<string, readonly [type: string, value: string, json: string]>> = {
  flag: ['BOOLEAN', 'TRUE', '1'],
  tiny: ['TINYINT', '-128', '-128'],
  small: ['SMALLINT UNSIGNED', '65535', '65535'],
  medium: ['MEDIUMINT', '-8388608', '-8388608'],
  whole: ['INT UNSIGNED', '4294967295', '4294967295'],
  filled: ['INT(8) ZEROFILL', '42', '42'],
  big: ['BIGINT', '-9223372036854775808', '-9223372036854775808'],
  biggest: ['BIGINT UNSIGNED', '18446744073709551615', '18446744073709551615'],
  exact: [
    'DECIMAL(65,30)',
    '-12345678901234567890123456789012345.678901234567890123456789012345',
    '-12345678901234567890123456789012345.678901234567890123456789012345',
  ],
  scaled: ['DECIMAL(10,4)', '0.5', '0.5000'],
  filledScaled: ['DECIMAL(10,2) ZEROFILL', '7', '7.00'],
  real: ['FLOAT', '0.1', '0.1'],
  longReal: ['FLOAT', '16777216', '16777216'],
  smallReal: ['FLOAT', '1.17549435e-38', '1.1754944e-38'],
  double: ['DOUBLE', '0.1 + 0.2e0', '0.30000000000000004'],
  huge: ['DOUBLE', '-1.7976931348623157e308', '-1.7976931348623157e+308'],
  bit: ['BIT(1)', "b'1'", '1'],
  bits: ['BIT(64)', '0xfffffffffffffffe', '18446744073709551614'],
  day: ['DATE', "'2024-05-17'", '"2024-05-17"'],
  noDay: ['DATE', "'0000-00-00'", '"0000-00-00"'],
  halfDay: ['DATE', "'2024-00-00'", '"2024-00-00"'],
  moment: ['DATETIME', "'2024-05-17'", '"2024-05-17T00:00:00"'],
  milli: ['DATETIME(3)', "'2024-05-17 08:15:30.12'", '"2024-05-17T08:15:30.120"'],
  micro: ['DATETIME(6)', "'0999-12-31 23:59:59.000001'", '"0999-12-31T23:59:59.000001"'],
  noMoment: ['DATETIME(2)', "'0000-00-00'", '"0000-00-00T00:00:00.00"'],
  stamp: ['TIMESTAMP NULL', "'2024-05-17 08:15:30'", '"2024-05-17T08:15:30Z"'],
  microStamp: ['TIMESTAMP(6) NULL', "'2024-05-17 08:15:30.5'", '"2024-05-17T08:15:30.500000Z"'],
  hour: ['TIME', "'08:15:30'", '"08:15:30"'],
  hours: ['TIME(3)', "'-838:59:58.5'", '"-838:59:58.500"'],
  noHour: ['TIME(1)', "'0:0:0'", '"00:00:00.0"'],
  year: ['YEAR', '2024', '2024'],
  fixed: ['CHAR(5)', "'ab'", '"ab"'],
  text: ['VARCHAR(100)', `CONVERT(0x${Buffer.from(ODD_TEXT).toString('hex')} USING utf8mb4)`, JSON.stringify(ODD_TEXT)],
  empty: ['TEXT', "''", '""'],
  fixedFloat: ['FLOAT(10,3)', '123456.789', '123456.789'],
  fixedDouble: ['DOUBLE(10,4)', '-0.1234', '-0.1234'],
  fixedWhole: ['DOUBLE(20,0) ZEROFILL', '1e15', '1000000000000000'],
  western: ['TEXT CHARACTER SET latin1', "'é€'", '"é€"'],
  wide: ['VARCHAR(9) CHARACTER SET utf32', "'é😀'", '"é😀"'],
  long: ['LONGTEXT', "REPEAT('x', 70000)", JSON.stringify('x'.repeat(70_000))],
  bytes: ['BINARY(4)', '0xdead', '"3q0AAA=="'],
  someBytes: ['VARBINARY(9)', '0xdeadbeef00', '"3q2+7wA="'],
  blob: ['LONGBLOB', "''", '""'],
  place: ['POINT', 'POINT(1, 2)', '"AAAAAAEBAAAAAAAAAAAA8D8AAAAAAAAAQA=="'],
  mood: ["ENUM('sad', 'so so')", "'so so'", '"so so"'],
  set: ["SET('a', 'b', 'c')", "'c,a'", '"a,c"'],
  json: [
    'JSON',
    String.raw`'{"a" :\n[1.50, 1e400,\r\n"\\u0000"], "a":2}'`,
    String.raw`{"a" : [1.50, 1e400,  "\u0000"], "a":2}`,
  ],
  noJson: ['JSON', "'{not'", '"{not"'],
  uuid: ['UUID', "'A0EEBC99-9c0b-4ef8-bb6d-6bb9bd380a11'", '"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"'],
  address: ['INET6', "'::1'", '"::1"'],
  'Odd `name`, "x" é': ['INT', '1', '1'],
}

const lack = await lackOf([MARIADB])

describe('rows of MySQL and MariaDB', { skip: lack ?? false }, () => {
  let server: MariadbServer

  before(async () => {
    server = await MariadbServer.start()
    await server.run(
      'CREATE DATABASE shop CHARACTER SET utf8mb4',
      'USE shop',
      'CREATE TABLE events (id BIGINT PRIMARY KEY, title TEXT)',
      "INSERT INTO events SELECT seq, CONCAT('Event ', seq) FROM seq_1_to_1234",
      ...['reader', 'stranger', 'chief'].map((user) => `CREATE USER ${user} IDENTIFIED BY '${ESCAPED_PASSWORD}'`),
      'GRANT SELECT, CREATE VIEW, EXECUTE ON shop.* TO reader',
      'GRANT ALL ON *.* TO chief',
    )
  })
  after(() => server[Symbol.asyncDispose]())

  const sql = (...statements: string[]) => server.run('USE shop', ...statements)
  const url = (rest = 'shop', user = 'reader@') => `mysql://${user}127.0.0.1:${server.port}/${rest}`

  const { runIn, imports, imported, refused } = importing({
    from: () => ['--from', url()],
    variables: () => ({ MYSQL_PWD: PASSWORD }),
    secrets: () => [PASSWORD, encodeURIComponent(PASSWORD), 'wrong-and-secret'],
  })
  const open = (choice: RowsChoice, signal = new AbortController().signal): Promise<Table> => {
    const address = `mysql://root@localhost/shop?socket=${server.socketPath}`
    return openMysqlTable(address, 'the shop', choice, signal)
  }
  /** Resolves when a statement of a reader is where it sleeps, or waits; with its connection. */
  const untilReader = async (state: string): Promise<number> => {
    for (;;) {
      const rows = await sql(
        `SELECT id FROM information_schema.processlist WHERE state = '${state}' AND id <> CONNECTION_ID()`,
      )
      if (rows[0] !== undefined) return Number(rows[0]['id'])
      await pause(10)
    }
  }

  describe('have every type', () => {
    const columns = Object.entries(TYPES)
    const names = quotedNames(Object.keys(TYPES), '`')
    const fields = columns.map(([name, [, , json]]) => `${JSON.stringify(name)}:${json}`)
    const nothing = columns.map(([name]) => `${JSON.stringify(name)}:null`)
    const lines = [`{"id":1,${fields.join(',')},"made":2}`, `{"id":2,${nothing.join(',')},"made":4}`]

    before(async () => {
      await sql(
        "SET sql_mode = '', check_constraint_checks = 0, time_zone = '+00:00'",
        `CREATE TABLE types (id INT PRIMARY KEY, ${columns.map(([name, [type]]) => `${quotedNames([name], '`')} ${type}`).join(', ')}, made INT AS (id * 2))`,
        `INSERT INTO types (id, ${names}) VALUES (1, ${columns.map(([, [, value]]) => value).join(', ')})`,
        'INSERT INTO types (id) VALUES (2)',
        // Whatever the server has set for all.
        "SET GLOBAL time_zone = '+05:00', GLOBAL sql_mode = 'ANSI_QUOTES,PAD_CHAR_TO_FULL_LENGTH', GLOBAL sql_select_limit = 1, GLOBAL character_set_server = latin1, GLOBAL autocommit = 0",
      )
    })
    after(() =>
      sql(
        'SET GLOBAL time_zone = SYSTEM, GLOBAL sql_mode = DEFAULT, GLOBAL sql_select_limit = DEFAULT, GLOBAL character_set_server = DEFAULT, GLOBAL autocommit = 1',
      ),
    )

    it('in a table', async (t) => {
      assert.deepEqual((await imported(t, '--table', 'types')).split('\n'), [...lines, ''])
    })

    it('in a query, with an order or without', async (t) => {
      const latest = query('SELECT * FROM types ORDER BY id DESC LIMIT 5')
      assert.deepEqual((await imported(t, ...latest)).split('\n'), [...lines.toReversed(), ''])
      assert.deepEqual((await imported(t, ...latest, '--order', '"id"')).split('\n'), [...lines, ''])
    })

    it('that an expression can have', async (t) => {
      const query = `SELECT NULL AS nothing, 1.50 AS exact, 1e0 / 3 AS inexact, MAX(fixedDouble) / 3 AS third, TRUE AS flag, MAX(stamp) AS stamp,
        JSON_OBJECT('a', 1) AS made, MAX(json) AS json, COUNT(*) AS "count", SUM(id) AS sum, CONCAT(1, 'é') AS text,
        SEC_TO_TIME(1.5) AS time, UNHEX('ff') AS bytes FROM types WHERE id = 1`
      assert.equal(
        await imported(t, '--query', query),
        `{"nothing":null,"exact":1.50,"inexact":0.3333333333333333,"third":-0.04113333333333332,"flag":1,"stamp":"2024-05-17T08:15:30Z","made":{"a": 1},"json":${TYPES['json']?.[2]},"count":1,"sum":1,"text":"1é","time":"00:00:01.5","bytes":"/w=="}\n`,
      )
    })
  })

  it('are in the order of the primary key, which is the key of the collection, or as they are told', async (t) => {
    await sql(
      'CREATE TABLE Backwards (n INT, `Key` INT, PRIMARY KEY (`Key`))',
      'INSERT INTO Backwards SELECT seq, 1000 - seq FROM seq_1_to_999',
      'CREATE TABLE pairs (n INT, b INT, a INT, PRIMARY KEY (a, b))',
      'INSERT INTO pairs VALUES (1, 1, 2), (2, 9, 1), (3, 0, 2)',
      'CREATE TABLE hidden (n INT, id INT INVISIBLE AUTO_INCREMENT PRIMARY KEY)',
      'INSERT INTO hidden (n, id) VALUES (1, 2), (2, 1)',
    )
    const { directory } = await imports(t, '--table', 'Backwards')
    assert.match(await storedLines(directory, 'events'), /^\{"n":999,"Key":1\}\n\{"n":998,"Key":2\}\n/)
    assert.match((await runInside(['collections'], { in: directory })).stdout, /events +999 +2 +Key/)
    const told = await imported(t, '--table', 'Backwards', '--order', 'n % 2 DESC, n -- odd ones first')
    assert.match(told, /^\{"n":1,"Key":999\}\n\{"n":3,"Key":997\}\n/)
    const pairs = await imports(t, '--table', 'pairs')
    assert.equal(
      await storedLines(pairs.directory, 'events'),
      '{"n":2,"b":9,"a":1}\n{"n":3,"b":0,"a":2}\n{"n":1,"b":1,"a":2}\n',
    )
    assert.match((await runInside(['collections'], { in: pairs.directory })).stdout, /events +3 +1 +a,b/)
    const hidden = await imports(t, '--table', 'hidden')
    assert.doesNotMatch(hidden.stdout, /primary key/)
    assert.equal(await storedLines(hidden.directory, 'events'), '{"n":2}\n{"n":1}\n')
  })

  it('come from a query too, in its order', async (t) => {
    const query = 'SELECT id AS n, UPPER(title) AS `Title` FROM events WHERE id < 3 ORDER BY id DESC -- the last ;'
    assert.equal(await imported(t, '--query', query), '{"n":2,"Title":"EVENT 2"}\n{"n":1,"Title":"EVENT 1"}\n')
    const others = 'WITH a AS (SELECT 1 AS x) SELECT * FROM a UNION ALL SELECT 2 ORDER BY x DESC;'
    assert.equal(await imported(t, '--query', others), '{"x":2}\n{"x":1}\n')
  })

  it('come from views, partitions, other engines, other databases and tables with odd names', async (t) => {
    await sql(
      'CREATE VIEW few AS SELECT * FROM events WHERE id <= 2',
      'CREATE TABLE parts (id INT PRIMARY KEY) PARTITION BY HASH (id) PARTITIONS 3',
      'INSERT INTO parts VALUES (4), (2), (3), (1)',
      'CREATE TABLE old (id INT PRIMARY KEY) ENGINE = MyISAM',
      'INSERT INTO old VALUES (2), (1)',
      'CREATE DATABASE `other.one`',
      'CREATE TABLE `other.one`.`Odd.Table ``x`` é` (a INT)',
      'INSERT INTO `other.one`.`Odd.Table ``x`` é` VALUES (7)',
      'GRANT SELECT ON `other.one`.* TO reader',
    )
    assert.equal(await imported(t, '--table', 'few'), '{"id":1,"title":"Event 1"}\n{"id":2,"title":"Event 2"}\n')
    assert.equal(await imported(t, '--table', 'shop.parts'), '{"id":1}\n{"id":2}\n{"id":3}\n{"id":4}\n')
    assert.equal(await imported(t, '--table', '`old`'), '{"id":1}\n{"id":2}\n')
    const odd = await imported(t, '--from', url(''), '--table', '`other.one`.`Odd.Table ``x`` é`')
    assert.equal(odd, '{"a":7}\n')
  })

  it('are served only of tables that are named: without a name, the command for each table is shown', async (t) => {
    await server.run(
      'CREATE DATABASE two',
      'CREATE TABLE two.`a.b` (a INT)',
      'CREATE TABLE two.c (a INT)',
      'GRANT SELECT ON two.* TO reader',
    )
    const directory = workDirectory(t)
    const listed = async (from: string, ...variables: Record<string, string>[]) => {
      const { status, stdout, stderr } = await runIn(directory, ['serve', '--from', from], ...variables)
      assert.notEqual(status, 0)
      return { lines: stdout.split('\n').slice(0, -1), stderr }
    }
    const inTwo = await listed(url('two'))
    assert.deepEqual(inTwo.lines, [
      `reams serve --from '${url('two')}' --table '\`a.b\`'`,
      `reams serve --from '${url('two')}' --table c`,
    ])
    const everywhere = await listed(url(''))
    assert.ok(everywhere.lines.includes(`reams serve --from '${url('')}' --table 'two.\`a.b\`'`))
    assert.ok(everywhere.lines.includes(`reams serve --from '${url('')}' --table shop.events`))
    const secret = await listed(url('two', `reader:${encodeURIComponent(PASSWORD)}@`), {})
    assert.match(secret.stderr, /The commands for its 2 tables are on stdout\. They leave out the password\.\n$/)
    assert.match((await listed(url('two', 'stranger@'))).stderr, /^reams: the tables in mysql:.*GRANT SELECT/)
  })

  it('are about as many as the server expects, where it is simple', async () => {
    await sql('ANALYZE TABLE events')
    const expected = async (choice: RowsChoice) => {
      await using table = await open(choice)
      return table.estimatedRows
    }
    assert.equal(await expected({ table: 'events' }), 1234)
    assert.equal(await expected({ query: 'SELECT title FROM events' }), 1234)
    assert.equal(await expected({ query: 'SELECT DISTINCT title FROM events' }), undefined)
  })

  const MYSQL = process.env['REAMS_TEST_MYSQL']
  const skip = MYSQL ? false : 'MySQL is not in Debian: the same tests ran on MariaDB'
  it('come from the MySQL that REAMS_TEST_MYSQL names', { skip }, async (t) => {
    const connection = await createConnection({ uri: MYSQL ?? '' })
    const table = `reams_test_${process.pid}`
    await connection.query(`CREATE TABLE ${table} (id INT PRIMARY KEY, n BIGINT UNSIGNED, d DECIMAL(9,2), v JSON)`)
    t.after(async () => {
      await connection.query(`DROP TABLE ${table}`)
      await connection.end()
    })
    await connection.query(`INSERT INTO ${table} VALUES (2, NULL, 1.5, NULL), (1, 18446744073709551615, NULL, '[1]')`)
    const from = ['--from', MYSQL ?? '']
    const lines = ['{"id":1,"n":18446744073709551615,"d":null,"v":[1]}', '{"id":2,"n":null,"d":1.50,"v":null}', '']
    const read = async (...words: string[]) => {
      const { directory } = await imports(t, ...from, ...words)
      return (await storedLines(directory, 'events')).split('\n')
    }
    assert.deepEqual(await read('--table', table), lines)
    assert.deepEqual(await read('--query', `SELECT * FROM ${table} ORDER BY id`), lines)
    const { stderr, status } = await imports(t, ...from, '--query', `DELETE FROM ${table}`)
    assert.deepEqual([status, /one SELECT/.test(stderr)], [2, true])
  })

  describe('are of one moment', () => {
    it('whatever others write', async (t) => {
      await sql(
        'CREATE TABLE accounts (id INT PRIMARY KEY, amount INT)',
        'INSERT INTO accounts VALUES (1, 100), (2, 100), (3, 100), (4, 100)',
        'CREATE VIEW slow AS SELECT *, IF(id = 2, SLEEP(0.5), 0) AS s FROM accounts',
      )
      const slow = imported(t, '--table', 'slow', '--order', 'id')
      await untilReader('User sleep')
      await sql(
        'START TRANSACTION',
        'UPDATE accounts SET amount = 0 WHERE id IN (1, 3)',
        'DELETE FROM accounts WHERE id = 4',
        'INSERT INTO accounts VALUES (5, 300)',
        'COMMIT',
      )
      assert.deepEqual(valuesOf(await slow, 'amount'), [100, 100, 100, 100])
    })

    it('that a TRUNCATE has to wait for', async () => {
      await sql('CREATE TABLE emptied (id INT PRIMARY KEY, x TEXT)')
      await sql("INSERT INTO emptied SELECT seq, REPEAT('x', 1000) FROM seq_1_to_20000")
      await using table = await open({ table: 'emptied' })
      const chunks = table.rows()[Symbol.asyncIterator]()
      let rows = linesIn((await chunks.next()).value)
      const emptying = sql('TRUNCATE emptied')
      await untilReader('Waiting for table metadata lock')
      for (let chunk = await chunks.next(); !chunk.done; chunk = await chunks.next()) rows += linesIn(chunk.value)
      assert.equal(rows, 20_000)
      await emptying
    })

    it('with the columns that were found, or none at all', async () => {
      await sql('CREATE TABLE altered (id INT PRIMARY KEY, a INT)', 'INSERT INTO altered VALUES (1, 2)')
      await using table = await open({ table: 'altered' })
      await sql('ALTER TABLE altered ADD b INT FIRST')
      await assert.rejects(Array.fromAsync(table.rows()), {
        name: 'TableError',
        message: 'altered in the shop: its columns were changed a moment ago. Try again.',
      })
    })
  })

  describe('are read with what the clients read', () => {
    const quotedPassword = `'${ESCAPED_PASSWORD}'`
    const readIn = (directory: string, from: string, variables: Record<string, string>) =>
      runIn(directory, ['import', 'events', '--from', from, '--table', 'events', '--order', 'nope'], variables)
    const read = (t: TestContext, from: string, variables: Record<string, string>, myCnf = ''): Promise<CliResult> => {
      const directory = workDirectory(t)
      writeFileSync(join(directory, '.my.cnf'), myCnf)
      return readIn(directory, from, variables)
    }
    /** Said by a server that let one in, to spare an import. */
    const isIn = /Unknown column 'nope'/

    it('a password in the URL, encoded', async (t) => {
      const { stderr } = await read(t, url('shop', `reader:${encodeURIComponent(PASSWORD)}@`), {})
      assert.match(stderr, isIn)
      assert.match(stderr, /^reams: Other users can see the password .* MYSQL_PWD or ~\/\.my\.cnf/)
    })

    it('~/.my.cnf, with everything that the URL leaves open', async (t) => {
      const file = `
        # A comment
        [mysqld]
        user = nobody
        [client]
        user=reader ; password=${quotedPassword}
        user = "reader"   # the one that reads
        password = ${quotedPassword}
        host=127.0.0.1
        [mysqldump]
        host = nope.invalid
        [mysql]
        port = ${server.port}
        database=shop
        no-auto-rehash`
      assert.match((await read(t, 'mysql://', {}, file)).stderr, isIn)
    })

    it('files that ~/.my.cnf includes', async (t) => {
      const directory = workDirectory(t)
      mkdirSync(join(directory, 'more'))
      writeFileSync(join(directory, 'one'), `[client]\nuser=reader\n!include ${join(directory, '.my.cnf')}`)
      writeFileSync(join(directory, 'more', 'b.cnf'), `[client-mariadb]\npassword=${quotedPassword}`)
      writeFileSync(join(directory, 'more', 'a.cnf'), '[client]\npassword=another')
      writeFileSync(join(directory, 'more', 'c.txt'), '[client]\npassword=another')
      writeFileSync(join(directory, '.my.cnf'), `!include ${directory}/one\n!includedir ${directory}/more\n`)
      assert.match((await readIn(directory, url('shop', ''), {})).stderr, isIn)
    })

    it('variables, behind ~/.my.cnf and the URL', async (t) => {
      const variables = { MYSQL_HOST: '127.0.0.1', MYSQL_TCP_PORT: `${server.port}`, MYSQL_PWD: PASSWORD }
      const file = '[client]\npassword=wrong-and-secret'
      const other = await read(t, 'mysql://reader@/shop', variables, file)
      assert.match(other.stderr, /Access denied/)
      const directory = workDirectory(t)
      // A file that anybody could have written is not read.
      writeFileSync(join(directory, '.my.cnf'), file)
      chmodSync(join(directory, '.my.cnf'), 0o666)
      assert.match((await readIn(directory, 'mysql://reader@/shop', variables)).stderr, isIn)
    })

    it('a socket, which is what localhost means', async (t) => {
      const address = `mariadb://reader@localhost/shop?socket=${encodeURIComponent(server.socketPath)}`
      assert.match((await read(t, address, { MYSQL_PWD: PASSWORD })).stderr, isIn)
      const variables = { MYSQL_PWD: PASSWORD }
      const file = `[client]\nsocket=${server.socketPath}`
      assert.match((await read(t, 'mysql://reader@localhost/shop', variables, file)).stderr, isIn)
      const { stderr } = await read(t, 'mysql://reader@localhost:1/shop', variables, file)
      assert.match(stderr, /ECONNREFUSED/)
    })

    it('ssl-mode and ssl-ca', async (t) => {
      assert.match((await read(t, url('shop?ssl_mode=disabled'), { MYSQL_PWD: PASSWORD })).stderr, isIn)
      const required = await read(t, url('shop?ssl-mode=REQUIRED'), { MYSQL_PWD: PASSWORD })
      assert.match(required.stderr, /does not support secure connection\. Check ssl-mode/)
      const { stderr } = await read(t, url(), { MYSQL_PWD: PASSWORD }, '[client]\nssl-ca = /nope.pem')
      assert.match(stderr, /The file of ssl-ca cannot be read: ENOENT/)
    })
  })

  describe('are refused', () => {
    const from = (rest: string, table = 'events') => ['--from', `mysql://${rest}`, '--table', table]
    const here = (user: string, rest: string, table?: string) => from(`${user}@127.0.0.1:${server.port}/${rest}`, table)
    const wrong: Wrong = {
      2: [
        [['--table', 'Events'], /There is no table Events in mysql:\/\/reader@.* There are .*events/],
        [['--table', 'shop.nope'], /There is no table shop\.nope in .*\. There are .*shop\.events/],
        [['--table', 'a`b'], /Invalid name of a table: a`b/],
        [query('SELECT 1 AS `__proto__`'), /__proto__.*\. Give the column another name with --query/],
        [inOrder('x'), /Unknown column 'x' in .*\. Check the names of columns\. There are id, title\./],
        [query('SELECT * FROM events', '--order', 'id,'), /syntax error at the end\. Check --order/],
        [inOrder('id LIMIT 1 OFFSET 3'), /syntax error.*\. Check --order/],
        [inOrder('id; SELECT 1'), /syntax error near 'SELECT 1'\. Check --order/],
        [query('SELECT nope FROM events'), /Unknown column 'nope'.* Check the names of columns\.\n/],
        [
          query('SELECT 1; DROP TABLE events'),
          /syntax error near '; DROP TABLE events'\. Check the query; it has to be one SELECT\. Nothing can follow its semicolon/,
        ],
        [query('SELECT 1) AS q; DROP TABLE events; SELECT * FROM (SELECT 1'), /one SELECT/],
        [query('DELETE FROM events'), /one SELECT/],
        [query('SELECT ?'), /one SELECT/],
        [
          query('SELECT write_one() FROM events'),
          /READ ONLY transaction\. Only what changes nothing is run: give a query that reads\./,
        ],
        // It writes while the query is looked at.
        [
          query('SELECT * FROM (SELECT write_one() AS x LIMIT 1) AS w'),
          /READ ONLY transaction\. Only what changes nothing is run/,
        ],
        [query('SELECT (SELECT id FROM events) AS id'), /Subquery returns more than 1 row\. Correct the query\./],
        [
          query('SELECT a.id, b.id FROM events a, events b'),
          /the query in .* has two columns named "id": give each a name of its own with AS\./,
        ],
        [from('reader:wrong-and-secret%ZZ@host/shop'), /Invalid URL of the database: it cannot be parsed/],
        [from('reader@host/shop?sslmode=require'), /Unknown parameter "sslmode" .*: there are socket, ssl-mode/],
        [
          from('reader@host/shop?ssl-mode=require'),
          /Invalid ssl-mode=require: expected one of DISABLED, PREFERRED, REQUIRED/,
        ],
        [from('reader@127.0.0.1/shop?ssl-mode=VERIFY_IDENTITY'), /give the name of the host, not its address/],
      ],
      1: [
        [
          query('SELECT CAST(1000 - seq AS UNSIGNED) * EXP(IF(seq = 900, 800, 0)) AS n FROM seq_1_to_999'),
          /DOUBLE value is out of range in .*A value of a row is at fault/,
        ],
      ],
      3: [
        [from('reader@nope.invalid/shop'), /There is no host of this name/],
        [from('reader@127.0.0.1:1/shop'), /ECONNREFUSED.*Nothing listens there/],
        [from('reader@/shop?socket=/nowhere/socket'), /ENOENT.*Nothing listens there/],
      ],
    }
    before(() =>
      sql(
        'CREATE FUNCTION write_one() RETURNS INT MODIFIES SQL DATA BEGIN INSERT INTO shop.events VALUES (0, 0); RETURN 1; END',
      ),
    )
    itRefuses(wrong, refused, async () => Number((await sql('SELECT COUNT(*) AS count FROM events'))[0]?.['count']))

    it('by the server', async (t) => {
      for (const [words, status, says] of [
        [here('chief', 'nope'), 2, /Unknown database 'nope'\. Check the name of the database/],
        [
          here('reader', ''),
          2,
          /No database selected\. Name the database: at the end of the URL, or as in --table database\.table\./,
        ],
        [here('stranger', '', 'shop.events'), 3, /SELECT command denied.* GRANT SELECT ON/],
        [here('stranger', 'shop'), 3, /Access denied.* GRANT SELECT ON/],
        [
          here('nope', 'shop'),
          3,
          /Access denied.*Check the user and the password, which is read from the URL, ~\/\.my\.cnf or MYSQL_PWD\./,
        ],
        [
          here('reader:wrong-and-secret', 'shop'),
          3,
          /events in mysql:\/\/reader@127.*Access denied.*Check the user and the password/,
        ],
      ] as const) {
        const result = await refused(t, ...words)
        assert.match(result.stderr, says)
        assert.equal(result.status, status)
      }
    })

    it('with a port that is none', async (t) => {
      const words = ['import', 'events', '--from', 'mysql://reader@host/shop', '--table', 'events']
      const { status, stderr } = await runIn(workDirectory(t), words, { MYSQL_TCP_PORT: 'x' })
      assert.match(stderr, /Invalid port "x" of MySQL/)
      assert.equal(status, 2)
    })

    it('when all connections are taken', async (t) => {
      const others = await Promise.all(Array.from({ length: 10 }, () => server.connect()))
      const { status, stderr } = await refused(t, '--table', 'events')
      await Promise.all(others.map((other) => other.end()))
      assert.match(stderr, /Too many connections\. All connections of the server or of this user are taken/)
      assert.equal(status, 3)
    })
  })

  it('end when the reader wants no more, and the server has its connection back', async () => {
    const controller = new AbortController()
    await using table = await open({ query: 'SELECT seq FROM seq_1_to_123456789' }, controller.signal)
    const chunks = table.rows()[Symbol.asyncIterator]()
    await chunks.next()
    controller.abort()
    await assert.rejects(
      async () => {
        while (!(await chunks.next()).done);
      },
      { name: 'TableError', kind: 'surroundings' },
    )
    const reading = "SELECT id FROM information_schema.processlist WHERE info LIKE '%seq\\_1\\_to\\_123456789'"
    while ((await sql(reading)).length > 0) await pause(10)
  })

  describe('are not imported at all when the source goes away in the middle', () => {
    const slow = query('SELECT seq AS id, IF(seq = 30000, SLEEP(60), 0) AS s FROM seq_1_to_100000')

    it('because somebody ended the connection', async (t) => {
      const reading = refused(t, ...slow)
      await sql(`KILL ${await untilReader('User sleep')}`)
      const { status, stderr } = await reading
      assert.match(stderr, /the query in .* Try again\. Nothing was imported\.\n$/)
      assert.equal(status, 3)
    })

    it('because the server was killed', async (t) => {
      const reading = refused(t, ...slow)
      await untilReader('User sleep')
      await server.kill()
      const { status, stderr } = await reading
      assert.match(stderr, /The connection was lost\. Try again\. Nothing was imported\.\n$/)
      assert.equal(status, 3)
    })
  })
})

function linesIn(chunk: Uint8Array): number {
  return Buffer.from(chunk).toString('latin1').split('\n').length - 1
}
