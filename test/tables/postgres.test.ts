import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { Client } from 'pg'
import { rowAsJson } from '../../src/tables/postgres-json.ts'
import { storedLines } from '../cli/items.ts'
import { RunningCli, runInside, startServer, workDirectory } from '../cli/run-cli.ts'
import { newSchema, runSql, withParameter } from '../store/postgres-engine.ts'
import { describePostgres, type PostgresServer, startOwnPostgres } from '../store/postgres-server.ts'
import { startProxy } from '../store/tcp-proxy.ts'
import { waitUntil } from '../wait-until.ts'
import { importing, itRefuses, query, quotedNames, sumOf, type Wrong } from './importing.ts'

/** A column for each kind of type that row_to_json knows, with two values; and one row of nothing but nulls. */
const TYPES: Readonly<Record<string, readonly [type: string, one: string, other: string]>> = {
  small: ['smallint', '-32768', '32767'],
  big: ['bigint', '9007199254740993', '-9223372036854775808'],
  exact: ['numeric', '123456789012345678901234567890.123456789012345678901234567890', "'NaN'"],
  endless: ['numeric', "'Infinity'", "'-Infinity'"],
  scaled: ['numeric(10,4)', '1.5', '-0.00001'],
  real: ['real', '0.1', "'NaN'"],
  double: ['double precision', '0.1', "'-Infinity'"],
  flag: ['boolean', 'true', 'false'],
  text: ['text', String.raw`E'a\nb\tc\\d"e\u2028\u0001é😀'`, "''"],
  fixed: ['char(5)', "'ab'", "'\\.'"],
  name: ['name', "'events'", "'x'"],
  bytes: ['bytea', String.raw`'\xdeadbeef'`, "''"],
  zoned: ['timestamptz', "'2024-05-17 08:15:30.123456+02'", "'infinity'"],
  stamp: ['timestamp', "'2024-05-17 08:15:30'", "'0044-03-15 12:00 BC'"],
  day: ['date', "'2024-05-17'", "'-infinity'"],
  hour: ['time', "'23:59:59.5'", "'24:00'"],
  zonedHour: ['timetz', "'08:15+02'", "'00:00Z'"],
  span: ['interval', "'1 year 2 mons -3 days 04:05:06.7'", "'-1 second'"],
  json: ['json', `E'{\\n  "a" :\\t[1, 2.50],\\r\\n "a":"\\\\\\\\u0000"}'`, "'[]'"],
  binary: ['jsonb', `'{"z":1,"a":{"b":[1e400,null]}}'`, `'"text"'`],
  uuid: ['uuid', "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", "'00000000-0000-0000-0000-000000000000'"],
  address: ['inet', "'::1/64'", "'10.0.0.1'"],
  network: ['cidr', "'10.0.0.0/8'", "'::/0'"],
  machine: ['macaddr', "'08:00:2b:01:02:03'", "'ff:ff:ff:ff:ff:ff'"],
  bits: ['bit varying', "B'101'", "B''"],
  xml: ['xml', `'<a b="c">d</a>'`, "'text'"],
  point: ['point', "'(1.5,2)'", "'(0,0)'"],
  polygon: ['polygon', "'((0,0),(1,1),(1,0))'", "'((0,0))'"],
  words: ['tsvector', "'a fat cat'", "''"],
  numbers: ['int[]', "'{1,NULL,3}'", "'{}'"],
  square: ['text[][]', `'{{"a,b","c\\"d"},{"{}",NULL}}'`, "'{{x}}'"],
  stamps: ['timestamptz[]', "'{2024-05-17 08:15:30+02}'", "'{NULL}'"],
  range: ['int4range', "'[1,5)'", "'empty'"],
  moments: ['tstzrange', "'[2024-05-17 08:15+02,)'", "'(,)'"],
  ranges: ['int4multirange', "'{[1,2),[5,9)}'", "'{}'"],
  mood: ['mood', "'so so'", "'sad'"],
  pair: ['pair', String.raw`(1, E'x\\y\n')`, '(NULL, NULL)'],
  pairs: ['pair[]', "ARRAY[(1,'a')::pair,(2,NULL)::pair]", 'ARRAY[]::pair[]'],
  positive: ['positive', '7', '1'],
  table: ['regclass', "'pg_class'", "'pg_type'"],
  'Odd "Name" ?column? 𝄞': ['text', "'odd'", "'even'"],
  long: ['text', "repeat('long text ', 20000)", "'short'"],
}

describePostgres('rows of PostgreSQL', (startPostgres, isCitus) => {
  let server: PostgresServer
  const schema = newSchema()
  const inSchema = (table: string) => `${schema}.${table}`
  /** The option that names a table. */
  const of = (table: string) => ['--table', inSchema(table)]
  const sql = (text: string) => runSql(server.url, `SET search_path = ${schema}`, text)

  before(async () => {
    server = await startPostgres()
    await runSql(server.url, '', `CREATE SCHEMA ${schema}`)
    await sql('CREATE TABLE events (id bigint PRIMARY KEY, title text)')
    if (isCitus) await sql("SELECT create_distributed_table('events', 'id')")
    await sql("INSERT INTO events SELECT n, 'Event ' || n FROM generate_series(1, 1234) n")
  })
  after(async () => {
    await runSql(server.url, '', `DROP SCHEMA ${schema} CASCADE`)
    await server.stop()
  })

  const urlWith = (change: Partial<URL>) => Object.assign(new URL(server.url), change).href
  const secrets = () => {
    const { password } = new URL(server.url)
    return [password, decodeURIComponent(password), 'wrong-and-secret'].filter((secret) => secret !== '')
  }
  const fromUrl = (url: string) => ({ REAMS_TABLE_FROM: url })
  const { runIn, imports, imported, refused } = importing({
    from: () => [],
    variables: () => fromUrl(server.url),
    secrets,
  })

  it('have every type as PostgreSQL itself writes it', async (t) => {
    await sql("CREATE TYPE mood AS ENUM ('sad', 'so so'); CREATE TYPE pair AS (number int, text text)")
    await sql('CREATE DOMAIN positive AS int CHECK (VALUE > 0)')
    const rows = Object.entries(TYPES)
    const columns = rows.map(([name, [type]]) => `${quotedNames([name])} ${type}`)
    await sql(
      `CREATE TABLE types (id int PRIMARY KEY, ${columns.join(', ')}, made int GENERATED ALWAYS AS (id * 2) STORED)`,
    )
    const names = quotedNames(Object.keys(TYPES))
    for (const place of [1, 2] as const)
      await sql(`INSERT INTO types (id, ${names}) VALUES (${place}, ${rows.map(([, row]) => row[place]).join(', ')})`)
    await sql('INSERT INTO types (id) VALUES (3)')
    const said = await runSql(
      server.url,
      `SET search_path = ${schema}; SET TimeZone = UTC`,
      'SELECT row_to_json(types)::text FROM types ORDER BY id',
    )
    const expected = said.map(([text]) => String(text).replaceAll(/[\r\n]/g, ' '))
    // Whatever the role has set for itself.
    const odd = encodeURIComponent(
      '-c TimeZone=Asia/Tokyo -c DateStyle=German -c IntervalStyle=iso_8601 -c extra_float_digits=-5 -c bytea_output=escape -c quote_all_identifiers=on',
    )
    const directory = workDirectory(t)
    await runIn(directory, ['import', 'events', ...of('types')], fromUrl(withParameter(server.url, 'options', odd)))
    assert.deepEqual((await storedLines(directory, 'events')).split('\n').slice(0, -1), expected)
  })

  it('have money as plain decimals, also in arrays, in domains and in queries', async (t) => {
    await sql('CREATE DOMAIN price AS money')
    await sql('CREATE TABLE prices (id int PRIMARY KEY, "a ""b" money, p price, list money[][], q text)')
    await sql("INSERT INTO prices VALUES (1, '1234567.8', '-1', '{{1,NULL},{2.5,-0.01}}', '$1')")
    await sql('INSERT INTO prices (id) VALUES (2)')
    const first = '"a \\"b":"1234567.80","p":"-1.00","list":[["1.00",null],["2.50","-0.01"]],"q":"$1"'
    assert.equal(
      await imported(t, ...of('prices')),
      `{"id":1,${first}}\n{"id":2,"a \\"b":null,"p":null,"list":null,"q":null}\n`,
    )
    const query = `SELECT p AS r, p AS q FROM ${inSchema('prices')} WHERE id = 1`
    assert.equal(await imported(t, '--query', query, '--order', 'q'), '{"r":"-1.00","q":"-1.00"}\n')
  })

  it('have amounts with as many digits as the currency has, whatever lc_monetary they are read with', async () => {
    for (const [digits, json] of [
      [0, '{"m":"123456","list":["7",null],"none":null}'],
      [2, '{"m":"1234.56","list":["0.07",null],"none":null}'],
      [3, '{"m":"123.456","list":["0.007",null],"none":null}'],
    ] as const) {
      const columns = [
        { name: 'm', money: 'money' },
        ...['list', 'none'].map((name) => ({ name, money: 'money[]' }) as const),
      ] as const
      const rows = "(SELECT 1234.56::numeric::money AS m, '{0.07,NULL}'::money[] AS list, NULL::money[] AS none) AS t"
      const select = `SELECT ${rowAsJson('t', columns, digits)}::text FROM ${rows}`
      assert.deepEqual(await runSql(server.url, 'SET lc_monetary = "C"', select), [[json]])
    }
  })

  it('are in the order of the primary key, which is the key of the collection', async (t) => {
    await sql('CREATE TABLE backwards (number int, "Key" int PRIMARY KEY)')
    if (isCitus) await sql(`SELECT create_distributed_table('backwards', 'Key')`)
    await sql('INSERT INTO backwards SELECT n, 1000 - n FROM generate_series(1, 999) n')
    const lines = await imported(t, ...of('backwards'))
    assert.match(lines, /^\{"number":999,"Key":1\}\n\{"number":998,"Key":2\}\n/)
    const byNumber = await imported(t, ...of('backwards'), '--order', 'number % 2 DESC, number')
    assert.match(byNumber, /^\{"number":1,"Key":999\}\n\{"number":3,"Key":997\}\n/)
  })

  it('have the key that is named, or that of the collection', async (t) => {
    const { directory } = await imports(t, ...of('events'), '--key', 'title')
    const again = await runIn(directory, ['import', 'events', ...of('events'), '--on-conflict', 'replace'])
    assert.match(again.stdout, /0 items imported, 1,234 replaced/)
  })

  it('have a key of several columns where the primary key has several', async (t) => {
    await sql('CREATE TABLE seats (hall text, number int, "a,b" int, PRIMARY KEY (hall, number))')
    await sql("INSERT INTO seats VALUES ('b', 1, 0), ('a,b', 2, 0), ('a,b', 10, 0)")
    const { directory } = await imports(t, ...of('seats'))
    assert.match((await runInside(['collections'], { in: directory })).stdout, /events +3 +1 +hall,number/)
    assert.match(
      await storedLines(directory, 'events'),
      /^\{"hall":"a,b","number":2,"a,b":0\}\n.*"number":10,.*\n\{"hall":"b",/,
    )
    const again = await runIn(directory, ['import', 'events', ...of('seats'), '--on-conflict', 'skip'])
    assert.match(again.stdout, /0 items imported, 3 skipped/)
  })

  it('come from a query too, in its order', async (t) => {
    const query = `SELECT id AS n, upper(title) AS "Title" FROM ${inSchema('events')} WHERE id < 3 ORDER BY id DESC -- the last ;`
    assert.equal(await imported(t, '--query', query), '{"n":2,"Title":"EVENT 2"}\n{"n":1,"Title":"EVENT 1"}\n')
    assert.equal(await imported(t, '--query', 'SELECT 1 AS a;\n;'), '{"a":1}\n')
    assert.equal(
      await imported(t, '--query', `VALUES (1), (2)`, '--order', 'column1 DESC'),
      '{"column1":2}\n{"column1":1}\n',
    )
  })

  it('come from views, partitions and tables with odd names', async (t) => {
    await sql(`CREATE VIEW few AS SELECT * FROM events WHERE id <= 2`)
    await sql('CREATE MATERIALIZED VIEW kept AS SELECT 1 AS one')
    await sql('CREATE TABLE "Odd.Table ""x"" é" (a int)')
    await sql('INSERT INTO "Odd.Table ""x"" é" VALUES (7)')
    if (!isCitus) {
      await sql('CREATE TABLE parts (id int PRIMARY KEY) PARTITION BY RANGE (id)')
      await sql('CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (10) TO (20)')
      await sql('CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (10)')
      await sql('INSERT INTO parts VALUES (15), (5)')
      assert.equal(await imported(t, ...of('parts')), '{"id":5}\n{"id":15}\n')
    }
    assert.equal((await imported(t, ...of('few'))).split('\n').length, 3)
    assert.equal(await imported(t, ...of('kept')), '{"one":1}\n')
    assert.equal(await imported(t, ...of('Odd.Table "x" é')), '{"a":7}\n')
    assert.equal(await imported(t, '--table', `${schema}."Odd.Table ""x"" é"`), '{"a":7}\n')
  })

  it('have all their columns, also where one has the name that we give to the row', async (t) => {
    assert.equal(await imported(t, ...query("SELECT 1 AS id, 'why?' AS q")), '{"id":1,"q":"why?"}\n')
    const whole = query('SELECT 1 AS id, q FROM (VALUES (2, 3)) AS q')
    assert.equal(await imported(t, ...whole), '{"id":1,"q":{"column1":2,"column2":3}}\n')
  })

  it('may have no order, and says so when the table has no primary key', async (t) => {
    await sql('CREATE TABLE unordered (a int)')
    const { stdout } = await imports(t, ...of('unordered'), '--allow-empty')
    assert.match(stdout, /The table has no primary key: --order can say in which order/)
  })

  it('are served only of tables that are named: without a name, the command for each table is shown', async (t) => {
    await sql('CREATE TABLE "It\'s ""odd""" AS SELECT 1 AS a')
    const url = withParameter(server.url, 'options', encodeURIComponent(`-c search_path=${schema}`))
    const { status, stdout, stderr } = await runIn(workDirectory(t), ['serve', '--from', url], {})
    assert.equal(status, 2)
    const lines = stdout.split('\n')
    assert.ok(lines.every((line) => line === '' || line.startsWith("reams serve --from 'postgres://")))
    assert.ok(lines.some((line) => line.endsWith(' --table events')))
    assert.ok(lines.some((line) => line.endsWith(` --table '"It'\\''s ""odd"""'`)))
    assert.match(stderr, /reams: Say what to serve from postgres:.* tables are on stdout\./)
    assert.equal(await imported(t, '--table', `${schema}."It's ""odd"""`), '{"a":1}\n')
  })

  describe('of one moment', { skip: isCitus && 'Citus gives each shard a moment of its own' }, () => {
    it('have the right sum, whatever others write', async (t) => {
      await sql('CREATE TABLE accounts (id int PRIMARY KEY, amount int)')
      await sql('INSERT INTO accounts SELECT n, 100 FROM generate_series(1, 5000) n')
      const writer = new Client(server.url)
      await writer.connect()
      let isDone = false
      const writing = (async () => {
        while (!isDone)
          await writer.query(
            `UPDATE ${inSchema('accounts')} SET amount = amount + CASE WHEN id = 1 THEN 1 ELSE -1 END WHERE id IN (1, 5000)`,
          )
      })()
      for (let round = 0; round < 2; round++)
        assert.equal(sumOf(await imported(t, ...of('accounts')), 'amount'), 500_000)
      isDone = true
      await writing
      await writer.end()
    })

    it('are those behind a TRUNCATE that they had to wait for', async (t) => {
      await sql('CREATE TABLE emptied (id int PRIMARY KEY)')
      await sql('INSERT INTO emptied SELECT generate_series(1, 1000)')
      const other = new Client(server.url)
      await other.connect()
      await other.query(
        `BEGIN; LOCK TABLE ${inSchema('emptied')} IN ACCESS EXCLUSIVE MODE; INSERT INTO ${inSchema('emptied')} VALUES (0)`,
      )
      const query = `SELECT * FROM ${inSchema('emptied')}`
      const importing = imports(t, '--query', query, '--allow-empty')
      await waitUntil(
        async () => (await sql("SELECT 1 FROM pg_locks WHERE NOT granted AND mode = 'AccessShareLock'")).length > 0,
      )
      await other.query(`TRUNCATE ${inSchema('emptied')}; INSERT INTO ${inSchema('emptied')} VALUES (1), (2); COMMIT`)
      await other.end()
      const { directory } = await importing
      assert.equal(await storedLines(directory, 'events'), '{"id":1}\n{"id":2}\n')
    })
  })

  describe('are refused', () => {
    const wrong: Wrong = {
      2: [
        [[], /--table NAME, or --query/],
        [['--table', 'x', '--query', 'y'], /not both/],
        [['--table', 'a', '--table', 'b'], /one table/],
        [['x.json', '--from', 'x.db', '--table', 'a'], /x\.json or from a database/],
        [of('nope'), /There is no table .*nope in .* There are /s],
        [of('events_pkey'), /is not a table or a view/],
        [[...of('events'), '--key', 'ID'], /has no column "ID" for the key\. There are id, title\./],
        [[...of('events'), '--order', 'x'], /column "x" does not exist\. There are id, title\./],
        [[...of('events'), '--order', 'id)'], /Check --order/],
        [[...of('events'), '--order', 'id LIMIT 1'], /Check --order/],
        [[...of('events'), '--order', 'id OFFSET 3'], /Check --order/],
        [query('SELECT 1; SELECT 2'), /one SELECT, without a second statement\. Nothing can follow its semicolon/],
        [
          query(`SELECT 1) AS q) TO STDOUT; DROP TABLE ${inSchema('events')}; COPY (SELECT 1 FROM (SELECT 1`),
          /one SELECT/,
        ],
        [query(`DELETE FROM ${inSchema('events')}`), /one SELECT/],
        [query(`SELECT ${inSchema('write_one')}()`), /read-only.*give a query that reads/s],
        // These functions claim that they do not write.
        [query(`SELECT 1 AS a WHERE ${inSchema('write_stable')}() = 1`), /read-only/],
        [query(`SELECT 1 AS a WHERE ${inSchema('write_immutable')}() = 1`), /read-only/],
        [
          query(`WITH x AS (DELETE FROM ${inSchema('events')} RETURNING id) SELECT * FROM x`),
          /one SELECT that only reads/,
        ],
        [query('SELECT $1::int AS a'), /Check the query/],
        [
          query('SELECT (SELECT * FROM generate_series(1, 2)) AS id'),
          /more than one row returned by a subquery.*\. Correct the query\./,
        ],
        [query('SELECT 1 AS a, 2 AS a'), /two columns named "a"/],
      ],
      1: [
        [
          query('SELECT 1 AS id UNION ALL SELECT NULL', '--key', 'id'),
          /the query in .*, row 2: the key field "id" is null/,
        ],
        [
          query('SELECT id / 2 AS id FROM generate_series(2, 9) id', '--key', 'id'),
          /, row 2: row 1 has the key "1" too;/,
        ],
        [
          query("SELECT id, repeat('x', id * 100000) AS x FROM generate_series(1, 5) id"),
          /, row 3: the item has .* bytes, the limit is 262,144.*`\{"id":3,/,
        ],
        [
          query('SELECT 1 / (id - 2000) FROM generate_series(1, 3000) id'),
          /division by zero.*A value of a row is at fault/,
        ],
      ],
    }
    before(async () => {
      for (const volatility of ['STABLE', 'IMMUTABLE'])
        await sql(
          `CREATE FUNCTION write_${volatility}() RETURNS int ${volatility} LANGUAGE plpgsql AS 'BEGIN RETURN ${schema}.write_one(); END'`,
        )
      await sql(
        `CREATE FUNCTION write_one() RETURNS int LANGUAGE sql AS 'INSERT INTO ${inSchema('events')} VALUES (0) RETURNING 1'`,
      )
    })
    itRefuses(wrong, refused, async () => Number((await sql('SELECT count(*) FROM events'))[0]?.[0]))

    /** A role without rights, and the URL by which it connects. */
    const makeRole = async (t: TestContext) => {
      const role = newSchema()
      await sql(`CREATE ROLE ${role} LOGIN PASSWORD 'wrong-and-secret'`)
      t.after(() => sql(`DROP OWNED BY ${role}; DROP ROLE ${role}`))
      return { role, url: urlWith({ username: role, password: 'wrong-and-secret' }) }
    }

    it('of a role without rights', async (t) => {
      const { role, url } = await makeRole(t)
      const directory = workDirectory(t)
      const words = ['import', 'events', ...of('events')]
      const { status, stderr } = await runIn(directory, words, fromUrl(url))
      assert.match(stderr, /permission denied.*Its owner can allow it: GRANT/s)
      assert.equal(status, 3)
      await sql(`GRANT USAGE ON SCHEMA ${schema} TO ${role}`)
      assert.match(
        (await runIn(directory, words, fromUrl(url))).stderr,
        /permission denied for table events\. Its owner/,
      )
    })

    it('of a role that may not leave out rows', { skip: isCitus && 'Citus has policies on shards too' }, async (t) => {
      const { role, url } = await makeRole(t)
      await sql('CREATE TABLE secured (id int); ALTER TABLE secured ENABLE ROW LEVEL SECURITY')
      await sql(`GRANT USAGE ON SCHEMA ${schema} TO ${role}; GRANT SELECT ON secured TO ${role}`)
      const words = ['import', 'events', ...of('secured')]
      const strict = withParameter(url, 'options', '-c row_security=off')
      const { status, stderr } = await runIn(workDirectory(t), words, fromUrl(strict))
      assert.match(stderr, /row-level security.*\. This role has row_security off\. Set it on .*BYPASSRLS/)
      assert.doesNotMatch(stderr, /GRANT/)
      assert.equal(status, 3)
      assert.equal((await runIn(workDirectory(t), words, fromUrl(url))).status, 0)
    })

    it('that others have locked for longer than a role may wait', async (t) => {
      const owner = new Client({ connectionString: server.url })
      await owner.connect()
      try {
        await owner.query(`BEGIN; LOCK TABLE ${inSchema('events')} IN ACCESS EXCLUSIVE MODE`)
        const url = withParameter(server.url, 'options', '-c lock_timeout=50')
        const words = ['import', 'events', '--query', `SELECT * FROM ${inSchema('events')}`]
        const { status, stderr } = await runIn(workDirectory(t), words, fromUrl(url))
        assert.match(stderr, /lock timeout\. Others have held a lock .*Try again, or raise lock_timeout/)
        assert.equal(status, 3)
      } finally {
        await owner.end()
      }
    })

    const skip = isCitus && 'It is about connections, which Citus takes as PostgreSQL does'
    for (const [title, change, status, says] of [
      ['of no such database', { pathname: '/nope' }, 2, /database "nope" does not exist.*Check the name/],
      ['of no such host', { hostname: 'nope.invalid' }, 3, /There is no host of this name/],
      ['where nothing listens', { port: '1' }, 3, /Nothing listens there/],
      ['with a wrong password', { password: 'wrong-and-secret' }, 3, /Check the user and the password/],
    ] as const)
      it(title, { skip }, async (t) => {
        const result = await runIn(
          workDirectory(t),
          ['import', 'events', '--table', 'events'],
          fromUrl(urlWith(change)),
        )
        assert.match(result.stderr, says)
        assert.equal(result.status, status)
      })
  })

  it('come with TLS as the variables of psql ask for it', async (t) => {
    const importWith = async (variables: Readonly<Record<string, string>>) => {
      const words = ['import', 'events', '--query', 'SELECT 1 AS a']
      return (await runIn(workDirectory(t), words, { ...variables, ...fromUrl(server.url) })).stderr
    }
    // This server has no TLS; one with Citus may have it.
    if (!isCitus) assert.match(await importWith({ PGSSLMODE: 'require' }), /does not support SSL/)
    assert.equal(await importWith({ PGSSLMODE: 'disable', PGSSLROOTCERT: '/nowhere' }), '')
    assert.match(await importWith({ PGSSLMODE: 'allways' }), /Invalid sslmode=allways .* or PGSSLMODE: expected one/)
    const withFile = { PGSSLMODE: 'verify-ca', PGSSLROOTCERT: '/nowhere' }
    assert.match(await importWith(withFile), /a file that it names is not there/)
  })

  describe('come from where the variables and files of psql lead', () => {
    /** What was said; '' where all went well. */
    const saidWith = async (t: TestContext, url: string, variables: Readonly<Record<string, string>>) => {
      const directory = workDirectory(t)
      const { hostname, port, username, password, pathname } = new URL(server.url)
      const service = [
        '# of the shop',
        '[other]',
        'host=nowhere.invalid',
        '[shop]',
        `host=${hostname}`,
        '',
        ` port=${port}`,
        `user=${decodeURIComponent(username)}`,
        ...(password && [`password=${decodeURIComponent(password)}`]),
        `dbname=${pathname.slice(1)}`,
        'port=1',
        '[wrong]',
        'password wrong-and-secret',
      ]
      writeFileSync(join(directory, 'pg_service.conf'), service.join('\n'))
      writeFileSync(join(directory, '.pg_service.conf'), '')
      const words = ['import', 'events', '--query', 'SELECT 1 AS a']
      const { stderr } = await runIn(directory, words, { PGSYSCONFDIR: directory, ...variables, ...fromUrl(url) })
      return stderr
    }

    it('a service, which stands above the variables and below the URL', async (t) => {
      const variables = { PGHOST: 'nowhere.invalid', PGPORT: '1', PGUSER: 'nobody', PGDATABASE: 'nope' }
      assert.equal(await saidWith(t, 'postgres://', { ...variables, PGSERVICE: 'shop' }), '')
      assert.equal(await saidWith(t, 'postgres:///?service=shop', { ...variables, PGSERVICE: 'other' }), '')
      assert.match(await saidWith(t, 'postgres:///nope?service=shop', {}), /"nope" does not exist/)
    })

    it('a service of the file that is named, or of nowhere', async (t) => {
      const from = 'postgres:///?service=nope'
      assert.match(
        await saidWith(t, from, {}),
        /There is no service "nope" of PostgreSQL in .*\/\.pg_service\.conf, .*\n$/,
      )
      assert.match(
        await saidWith(t, from, { PGSERVICEFILE: '/nowhere' }),
        /The service file \/nowhere cannot be read: ENOENT/,
      )
      assert.match(await saidWith(t, 'postgres:///?service=wrong', {}), /Line 1[23] of .* is not a parameter: expected/)
    })

    it('an address in place of the name of a host', async (t) => {
      const { hostname, href } = new URL(server.url)
      const address = hostname === 'localhost' ? '127.0.0.1' : hostname
      const named = href.replace(`@${hostname}`, '@nowhere.invalid')
      assert.equal(await saidWith(t, named, { PGHOSTADDR: address }), '')
      assert.equal(await saidWith(t, withParameter(named, 'hostaddr', address), { PGHOSTADDR: '192.0.2.1' }), '')
      assert.match(
        await saidWith(t, named, { PGHOSTADDR: 'localhost' }),
        /Invalid hostaddr or PGHOSTADDR .*: expected an/,
      )
    })

    it('one host, not several', async (t) => {
      const several =
        /Several hosts are given for the source, and only one can be tried: name one of them, or an address that follows the primary\./
      for (const url of [
        'postgres://u:wrong-and-secret@a,b/x',
        'postgres://a:1,b:2/x',
        'postgres:///x?host=a,b&port=1,2',
      ])
        assert.match(await saidWith(t, url, {}), several)
      assert.match(await saidWith(t, 'postgres:///x', { PGHOST: 'a,b' }), several)
    })
  })

  it('are not given out without TLS where the server demands it, which the message names', {
    skip: isCitus && 'It is about connections, which Citus takes as PostgreSQL does',
  }, async (t) => {
    const rules = join(workDirectory(t), 'pg_hba.conf')
    writeFileSync(rules, 'hostssl all all all trust\n', { mode: 0o644 })
    const strict = await startOwnPostgres([`hba_file = '${rules}'`])
    t.after(() => strict.stop())
    const words = ['import', 'events', '--table', 'events']
    const { stderr, status } = await runIn(workDirectory(t), words, fromUrl(strict.url))
    assert.match(stderr, /no encryption\. If the server demands TLS, add sslmode=require to the URL/)
    assert.equal(status, 3)
  })

  it('are not shown by a location that is nearly a URL', async (t) => {
    for (const url of [
      '"postgres://u:wrong-and-secret@h/x"',
      ' postgres://u:wrong-and-secret@h/x',
      'u:wrong-and-secret@h/x',
      'postgres//u:wrong-and-secret@h/x',
      'jdbc:mysql://u:wrong-and-secret@h/x',
      'password=wrong-and-secret',
    ]) {
      const { status, stderr } = await runIn(workDirectory(t), ['import', 'events', '--table', 'events'], fromUrl(url))
      assert.match(stderr, /^reams: Invalid REAMS_TABLE_FROM: A database is postgres/)
      assert.equal(status, 2)
    }
  })

  it('give way to a store and to what the command line names, where they are in the environment', async (t) => {
    const directory = workDirectory(t)
    const variables = { ...fromUrl(server.url), REAMS_TABLE: inSchema('events') }
    const options = { in: directory, variables }
    assert.equal((await runInside(['import', 'few', '--query', 'SELECT 1 AS id'], options)).status, 0)
    assert.equal((await runInside(['import', 'events'], options)).status, 0)
    const ofStore = await startServer(t, ['--store', 'reams.db'], options)
    assert.equal((await (await ofStore.get('/few')).json()).item_count, 1)
    const plain = { in: directory, variables: fromUrl(server.url) }
    assert.equal((await (await (await startServer(t, [], plain)).get('/events')).json()).item_count, 1234)
  })

  it('are served at once, from a temporary store, by workers whose arguments show no password', async (t) => {
    await sql('CREATE TABLE events_too (id int PRIMARY KEY)')
    const tables = [...of('events'), ...of('events_too')]
    const words = ['--from', server.url, ...tables, '--workers', '2']
    const { cli, get } = await startServer(t, words, { in: workDirectory(t) })
    const page = await (await get('/events?page=3')).json()
    assert.deepEqual([page.item_count, page._embedded.events.length], [1234, 234])
    assert.equal((await get('/events/17')).status, 200)
    assert.equal((await (await get('/events_too')).json()).item_count, 0)
    const children = readFileSync(`/proc/${cli.child.pid}/task/${cli.child.pid}/children`, 'utf8').trim().split(' ')
    assert.equal(children.length, 2)
    for (const pid of children) {
      const shown = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      assert.match(shown, /--from\0postgres:/)
      for (const secret of secrets()) assert.ok(!shown.includes(secret), shown)
    }
    assert.equal((await cli.stop()).status, 0)
  })

  it('are all or nothing when the source goes away in the middle', async (t) => {
    const { hostname, port } = new URL(server.url)
    let bytes = 0
    const proxy = await startProxy(hostname, Number(port), () => (data) => {
      bytes += data.length
      if (bytes > 5_000_000) setImmediate(() => proxy.cutAll())
      return data
    })
    t.after(() => proxy.close())
    const url = urlWith({ hostname: '127.0.0.1', port: `${proxy.port}` })
    const directory = workDirectory(t)
    const long = query("SELECT id, repeat('x', 1000) AS x FROM generate_series(1, 20000) id")
    const result = await runIn(directory, ['import', 'events', ...long], fromUrl(url))
    assert.match(result.stderr, /Try again\. Nothing was imported\.\n$/)
    assert.equal(result.status, 3)
    assert.ok(!existsSync(join(directory, 'reams.db')))
    assert.equal((await runIn(directory, ['import', 'events', '--query', 'SELECT 1 AS id'])).status, 0)
  })

  it('are not read on after Ctrl-C, and no password is in the list of processes', async (t) => {
    const directory = workDirectory(t)
    const query = 'SELECT id, pg_sleep(0.001) FROM generate_series(1, 1000000) id'
    const running = new RunningCli(['import', 'events', '--from', server.url, '--query', query], { in: directory })
    await waitUntil(async () => (await activity('generate_series(1, 1000000)')).length > 0)
    const shown = readFileSync(`/proc/${running.child.pid}/cmdline`, 'utf8')
    for (const secret of secrets()) assert.ok(!shown.includes(secret), shown)
    const { status, stderr } = await running.stop('SIGINT')
    assert.equal(status, 130)
    assert.match(stderr, /nothing was changed/)
    await waitUntil(async () => (await activity('generate_series(1, 1000000)')).length === 0)
  })

  it('are not waited for after Ctrl-C, also before the first', async (t) => {
    const other = new Client(server.url)
    await other.connect()
    await other.query(`BEGIN; LOCK TABLE ${inSchema('events')} IN ACCESS EXCLUSIVE MODE`)
    const words = ['import', 'events', '--from', server.url, ...of('events')]
    const running = new RunningCli(words, { in: workDirectory(t) })
    await waitUntil(async () => (await activity('LIMIT 0')).length > 0)
    const { status, stderr } = await running.stop('SIGINT')
    await other.end()
    assert.match(stderr, /interrupted by SIGINT; nothing was changed/)
    assert.equal(status, 130)
  })

  /** Statements that run. */
  const activity = (text: string) =>
    runSql(
      server.url,
      '',
      'SELECT pid FROM pg_stat_activity WHERE strpos(query, $1) > 0 AND state = $2 AND pid <> pg_backend_pid()',
      [text, 'active'],
    )
})
