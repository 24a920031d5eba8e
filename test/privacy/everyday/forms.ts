import { Random } from '../held-out/random.js'

/**
 * The forms in which a secret appears on a developer's screen on an ordinary day. The list was written before the rules were
 * changed with it; `spellings.ts` shows each of them in colour, inside JSON and with characters that nobody sees.
 */
export interface EverydayForm {
  name: string
  /** What must not be readable afterwards, as the program behind the text would use it. */
  secret: string
  /** As it is on the screen. */
  text: string
}

const r = new Random(20_261_116)
const rows: EverydayForm[] = []
const form = (name: string, secret: string, text: (secret: string) => string): void =>
  void rows.push({ name, secret, text: text(secret) })

const pass = (): string => `${r.word(5)}!${r.word(4)}9-${r.word(4)}`
const key = (): string => r.word(40)
const github = (): string => `ghp_${r.word(36)}`
const anthropic = (): string => `sk-ant-api03-${r.urlSafe(93)}AA`
const awsId = (): string => `AKIA${r.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', 16)}`
const awsSecret = (): string => `${r.base64(18)}/${r.base64(10)}+${r.base64(10)}`
const b64 = (text: string): string => Buffer.from(text).toString('base64')
const jwt = (): string =>
  [
    { alg: 'HS256', typ: 'JWT' },
    { sub: r.digits(10), iat: 1_700_000_000 },
  ]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .concat(r.urlSafe(43))
    .join('.')

// Environment files and shells
form('.env, bare', pass(), (s) => `DB_PASSWORD=${s}`)
form('.env, double quotes', pass(), (s) => `DB_PASSWORD="${s}"`)
form('.env, single quotes', pass(), (s) => `DB_PASSWORD='${s}'`)
form('.env, a comment behind it', key(), (s) => `API_KEY=${s} # production`)
form('.env, blanks around the sign', key(), (s) => `SECRET_KEY = ${s}`)
form('.env, a quoted value over two lines', `${key()}`, (s) => `API_SECRET="${s.slice(0, 20)}\\\n${s.slice(20)}"`)
form('export', key(), (s) => `export STRIPE_SECRET_KEY=${s}`)
form('export, ANSI-C quotes', pass(), (s) => `export DB_PASSWORD=$'${s}'`)
form('declare -x', key(), (s) => `declare -x GITLAB_TOKEN="${s}"`)
form('fish', key(), (s) => `set -gx NPM_TOKEN ${s}`)
form('PowerShell', key(), (s) => `$env:AZURE_CLIENT_SECRET = "${s}"`)
form('cmd.exe', key(), (s) => `set API_TOKEN=${s}`)
form('cmd.exe, quoted', key(), (s) => `set "API_TOKEN=${s}"`)
form('setx', key(), (s) => `setx API_TOKEN "${s}"`)
form('inline before a command', pass(), (s) => `PGPASSWORD=${s} psql -h db -U app`)
form('env', pass(), (s) => `env MYSQL_PWD=${s} mysqldump app`)
form('docker run -e', pass(), (s) => `docker run -d -e POSTGRES_PASSWORD=${s} postgres:17`)
form('a trace of the shell', pass(), (s) => `+ PGPASSWORD=${s}\n+ psql -h db`)
form('a default in an expansion', pass(), (s) => `PASSWORD=\${DB_PASSWORD:-${s}}`)
form('a Dockerfile', key(), (s) => `ENV NPM_TOKEN ${s}`)
form('a Dockerfile, argument', key(), (s) => `ARG NPM_TOKEN=${s}`)
form('printenv', key(), (s) => `HOME=/home/ada\nOPENAI_API_KEY=${s}\nLANG=C`)
form('systemd', pass(), (s) => `[Service]\nEnvironment="DB_PASSWORD=${s}"\nExecStart=/bin/app`)

// JSON and its kin
form('JSON', pass(), (s) => `{"user":"ada","password":"${s}"}`)
form('JSON, blanks', key(), (s) => `{\n  "apiKey": "${s}",\n  "region": "eu"\n}`)
form('JSON, a quote inside', `ab"${r.word(9)}7!`, (s) => `{"password": ${JSON.stringify(s)}, "user": "ada"}`)
form('JSON, a backslash inside', `c\\${r.word(9)}7!`, (s) => `{"password": ${JSON.stringify(s)}}`)
form('JSON, quotes inside, then a comma', `a",b":"${r.word(8)}1`, (s) => `{"password":${JSON.stringify(s)}}`)
form('JSON with escaped slashes', awsSecret(), (s) => `{"secretAccessKey":"${s.replaceAll('/', '\\/')}"}`)
form(
  'JSON with escaped signs',
  `${r.word(10)}+${r.word(10)}=`,
  (s) => `{"client_secret":"${s.replaceAll('+', '\\u002B').replaceAll('=', '\\u003D')}"}`,
)
form('JSON, the value on the next line', pass(), (s) => `{\n  "password":\n    "${s}"\n}`)
form('JSON5', pass(), (s) => `{ password: '${s}', user: 'ada' }`)
form('JSON lines of a log', key(), (s) => `{"level":30,"time":1,"headers":{"x-api-key":"${s}"}}`)
form('a list of pairs', pass(), (s) => `[{"name":"DB_PASSWORD","value":"${s}"}]`)
form('a list of pairs, value first', pass(), (s) => `[{"value":"${s}","name":"DB_PASSWORD"}]`)
form('Docker inspect', pass(), (s) => `"Env": [\n  "PATH=/bin",\n  "POSTGRES_PASSWORD=${s}"\n]`)
form('a composer auth file', key(), (s) => `{"github-oauth": {"github.com": "${s}"}}`)

// YAML
form('YAML', pass(), (s) => `db:\n  password: ${s}\n  user: ada`)
form('YAML, double quotes', pass(), (s) => `password: "${s}"`)
form('YAML, single quotes', pass(), (s) => `password: '${s}'`)
form('YAML, a doubled quote inside', `x${r.word(3)}'${r.word(8)}4!`, (s) => `password: '${s.replaceAll("'", "''")}'`)
form('YAML, an anchor', pass(), (s) => `password: &dbpass ${s}\ncopy: *dbpass`)
form('YAML, an anchor and quotes', pass(), (s) => `password: &dbpass "${s}"`)
form('YAML, a tag', pass(), (s) => `password: !!str ${s}`)
form('YAML, a tag and quotes', pass(), (s) => `password: !unsafe "${s}"`)
form('YAML, literal block', pass(), (s) => `password: |\n  ${s}\nuser: ada`)
form('YAML, folded block', key(), (s) => `api_key: >-\n  ${s}\nuser: ada`)
form('YAML, literal block with an indent', pass(), (s) => `password: |2-\n    ${s}\nuser: ada`)
form('YAML, the value on the next line', pass(), (s) => `password:\n  ${s}\nuser: ada`)
form('YAML, the quoted value on the next line', pass(), (s) => `password:\n  "${s}"\nuser: ada`)
form('YAML, quoted name', pass(), (s) => `"db-password": ${s}`)
form('YAML, a list item', pass(), (s) => `env:\n  - DB_PASSWORD=${s}\n  - LANG=C`)
form('YAML, a pair of a pod', pass(), (s) => `- name: DB_PASSWORD\n  value: "${s}"`)
form('a secret of Kubernetes', b64(pass()), (s) => `kind: Secret\ndata:\n  password: ${s}\ntype: Opaque`)
form('a secret of Kubernetes, plain', pass(), (s) => `kind: Secret\nstringData:\n  password: ${s}`)
form('a comment behind the value', pass(), (s) => `password: ${s} # rotate me`)
form('Ansible', pass(), (s) => `ansible_become_pass: ${s}`)

// TOML, INI and others
form('TOML', pass(), (s) => `[db]\npassword = "${s}"`)
form('TOML, three quotes', pass(), (s) => `password = """${s}"""`)
form('TOML, three quotes over lines', pass(), (s) => `password = """\n${s}\n"""`)
form('TOML, three single quotes', pass(), (s) => `password = '''${s}'''`)
form('TOML, inline table', key(), (s) => `db = { host = "h", token = "${s}" }`)
form('INI', pass(), (s) => `[client]\nuser=root\npassword=${s}`)
form('Java properties', pass(), (s) => `spring.datasource.password=${s}`)
form('Java properties, colon', pass(), (s) => `spring.datasource.password: ${s}`)
form('HCL', key(), (s) => `provider "x" {\n  api_token = "${s}"\n}`)
form('HCL, heredoc', pass(), (s) => `password = <<EOT\n${s}\nEOT`)
form('XML, an element', pass(), (s) => `<server><password>${s}</password></server>`)
form('XML, an attribute', pass(), (s) => `<user name="ada" password="${s}"/>`)
form('XML, CDATA', pass(), (s) => `<password><![CDATA[${s}]]></password>`)
form('XML, a property', pass(), (s) => `<property name="password" value="${s}"/>`)
form('a plist', key(), (s) => `<key>api_token</key>\n<string>${s}</string>`)
form('netrc', pass(), (s) => `machine api.test login ada password ${s}`)
form('netrc over lines', pass(), (s) => `machine api.test\n  login ada\n  password ${s}\n`)
form('pgpass', pass(), (s) => `db.test:5432:app:ada:${s}`)
form('npmrc', github(), (s) => `//npm.pkg.github.com/:_authToken=${s}`)
form('a pip configuration', pass(), (s) => `index-url = https://ada:${s}@pypi.test/simple`)
form('git credentials', github(), (s) => `https://ada:${s}@github.com`)
form('git config', github(), (s) => `[url "https://${s}@github.com/"]\n\tinsteadOf = https://github.com/`)
form('an AWS credentials file', awsSecret(), (s) => `[default]\naws_secret_access_key = ${s}`)
form('wpa_supplicant', pass(), (s) => `network={\n  ssid="x"\n  psk="${s}"\n}`)
form('a connection string', pass(), (s) => `Server=db;Database=app;User Id=sa;Password=${s};Encrypt=true`)
form(
  'a storage connection string',
  `${r.base64(86)}==`,
  (s) => `AccountName=x;AccountKey=${s};EndpointSuffix=core.windows.net`,
)
form('a URL', pass().replaceAll('!', '~'), (s) => `postgres://app:${s}@db.test:5432/app`)
form('a URL, percent-encoded', `${r.word(6)}@${r.word(6)}1`, (s) => `mysql://app:${encodeURIComponent(s)}@db/app`)
form('a query', key(), (s) => `GET /v1/items?api_key=${s}&page=2`)
form('a query, percent-encoded', key(), (s) => `redirect=https%3A%2F%2Fa.test%2F%3Faccess_token%3D${s}%26x%3D1`)
form('a fragment', key(), (s) => `https://a.test/cb#access_token=${s}&state=1`)

// Programs
form('Python', pass(), (s) => `password = "${s}"`)
form('Python, single quotes', pass(), (s) => `PASSWORD = '${s}'`)
form('Python, bytes', pass(), (s) => `password = b'${s}'`)
form('Python, bytes as an argument', key(), (s) => `client = Client(secret=b"${s}")`)
form('Python, f-string', key(), (s) => `token = f"${s}"`)
form('Python, raw string', key(), (s) => `token = r'${s}'`)
form('Python, three quotes', pass(), (s) => `password = """${s}"""`)
form('Python, annotated', key(), (s) => `api_key: str = "${s}"`)
form('Python, a dict', pass(), (s) => `config = {'password': '${s}', 'host': 'db'}`)
form('Python, a dict of bytes', pass(), (s) => `{b'password': b'${s}', b'user': b'ada'}`)
form('Python, keyword argument', pass(), (s) => `connect(host="db", password="${s}")`)
form('Python, environ', key(), (s) => `os.environ["API_KEY"] = "${s}"`)
form('Python, getenv with a default', key(), (s) => `os.getenv("API_KEY", "${s}")`)
form('Python, repr in a traceback', pass(), (s) => `Settings(host='db', password='${s}', port=5432)`)
form('Python, SecretStr', pass(), (s) => `password=SecretStr('${s}')`)
form('Python, a tuple', pass(), (s) => `auth=('ada', '${s}')`)
form('Python, the value on the next line', key(), (s) => `API_KEY = (\n    "${s}"\n)`)
form('Python, joined strings', key(), (s) => `token = ("${s.slice(0, 20)}"\n         "${s.slice(20)}")`)
form('JavaScript', pass(), (s) => `const password = '${s}'`)
form('JavaScript, template', key(), (s) => `const token = \`${s}\``)
form('JavaScript, a fallback', key(), (s) => `const key = process.env.API_KEY || '${s}'`)
form('JavaScript, nullish', key(), (s) => `apiKey: process.env.API_KEY ?? "${s}",`)
form('JavaScript, the value on the next line', key(), (s) => `const apiToken =\n  '${s}'`)
form('JavaScript, bracket', key(), (s) => `headers['x-api-key'] = '${s}'`)
form('TypeScript', pass(), (s) => `private readonly password: string = '${s}'`)
form('Java', pass(), (s) => `private static final String PASSWORD = "${s}";`)
form('C#, verbatim string', pass(), (s) => `var password = @"${s}";`)
form('C define', key(), (s) => `#define API_KEY "${s}"`)
form('Go, struct', pass(), (s) => `Config{Host: "db", Password: "${s}"}`)
form('Go, backquotes', key(), (s) => `Token: \`${s}\`,`)
form('Go, printed struct', pass(), (s) => `{Host:db Password:${s} Port:5432}`)
form('Rust, debug', pass(), (s) => `Config { host: "db", password: Some("${s}") }`)
form('Rust, bytes', key(), (s) => `let secret = b"${s}";`)
form('Rust, raw string', pass(), (s) => `let password = r#"${s}"#;`)
form('Ruby, symbol', pass(), (s) => `{:password=>"${s}", :user=>"ada"}`)
form('Ruby, new hash', pass(), (s) => `password: "${s}", user: "ada"`)
form('PHP, array', pass(), (s) => `'password' => '${s}',`)
form('PHP, var_dump', pass(), (s) => `  ["password"]=>\n  string(${s.length}) "${s}"`)
form('PHP, print_r', pass(), (s) => `    [password] => ${s}`)
form('Elixir', pass(), (s) => `config :app, Repo, password: "${s}"`)
form('Kotlin', key(), (s) => `val apiKey: String = "${s}"`)
form('Swift', key(), (s) => `let apiKey = #"${s}"#`)
form('Lua', pass(), (s) => `password = [[${s}]]`)
form('a shell heredoc', pass(), (s) => `read -r PASSWORD <<< "${s}"`)
form('SQL', pass(), (s) => `ALTER USER ada WITH PASSWORD '${s}';`)
form('SQL, insert', key(), (s) => `INSERT INTO config (name, value) VALUES ('api_key', '${s}');`)

// Commands and protocols
form('a header', key(), (s) => `X-Api-Key: ${s}`)
form('a bearer header', key(), (s) => `Authorization: Bearer ${s}`)
form('a bearer header of curl -v', key(), (s) => `> GET / HTTP/2\n> authorization: Bearer ${s}\n> accept: */*`)
form('a basic header', b64(`ada:${pass()}`), (s) => `Authorization: Basic ${s}`)
form('a cookie', key(), (s) => `set-cookie: session=${s}; Path=/; HttpOnly`)
form('curl -u', pass(), (s) => `curl -u ada:${s} https://api.test`)
form('curl -u, quoted', pass(), (s) => `curl -u 'ada:${s}' https://api.test`)
form('curl -d, JSON', pass(), (s) => `curl -d '{"user":"ada","password":"${s}"}' https://api.test`)
form('curl -d, a form', pass(), (s) => `curl -d 'user=ada&password=${s}' https://api.test`)
form('a long option', pass(), (s) => `tool --user ada --password ${s} --host db`)
form('a long option, quoted', pass(), (s) => `tool --password="${s}"`)
form('mysql -p', pass(), (s) => `mysql -uroot -p${s} app`)
form('sshpass', pass(), (s) => `sshpass -p '${s}' ssh ada@host`)
form('echo into sudo', pass(), (s) => `echo ${s} | sudo -S true`)
form('docker login', pass(), (s) => `docker login -u ada -p ${s}`)
form('helm --set', pass(), (s) => `helm install db x --set auth.password=${s}`)
form('kubectl create secret', pass(), (s) => `kubectl create secret generic db --from-literal=password=${s}`)
form('terraform -var', pass(), (s) => `terraform apply -var 'db_password=${s}'`)
form('gh secret set', pass(), (s) => `gh secret set DEPLOY --body '${s}'`)
form('redis-cli', pass(), (s) => `redis-cli -h db -a ${s} ping`)
form('a prompt answered', pass(), (s) => `Password: ${s}`)
form('an HTML form', pass(), (s) => `<input type="password" name="password" value="${s}">`)
form('escaped HTML', key(), (s) => `{&quot;apiKey&quot;:&quot;${s}&quot;}`)
form('a Markdown table', key(), (s) => `| API_KEY | ${s} |`)
form('a Markdown list', pass(), (s) => `- **Password:** \`${s}\``)
form('a Markdown list, bare name', pass(), (s) => `- password: \`${s}\``)
form('a diff', pass(), (s) => `-password = "old"\n+password = "${s}"`)
form('grep with file and line', pass(), (s) => `config/db.yml:12:  password: ${s}`)
form('a private key', r.base64(64), (s) => `-----BEGIN PRIVATE KEY-----\n${s}\n-----END PRIVATE KEY-----`)
form('a JWT', jwt(), (s) => `token ${s} expired`)

// Tokens that their form gives away
form('GitHub, bare', github(), (s) => s)
form('GitHub, in a sentence', github(), (s) => `I used ${s} for it.`)
form('Anthropic, bare', anthropic(), (s) => s)
form('Anthropic, in a header', anthropic(), (s) => `x-api-key: ${s}`)
form('AWS id', awsId(), (s) => `found ${s} in main.tf`)
form('Slack', `xoxb-${r.digits(12)}-${r.digits(13)}-${r.word(24)}`, (s) => `SLACK=${s}`)
form('Stripe', `sk_${'live'}_${r.word(24)}`, (s) => `stripe.Stripe('${s}')`)
form('OpenAI', `sk-proj-${r.urlSafe(74)}T3BlbkFJ${r.urlSafe(74)}`, (s) => `key ${s}`)
form('Google', `AIza${r.urlSafe(35)}`, (s) => `https://maps.test/?key=${s}`)
form('npm', `npm_${r.word(36)}`, (s) => `npm token create -> ${s}`)
form('GitLab', `glpat-${r.urlSafe(20)}`, (s) => `glab auth login --token ${s}`)

export const EVERYDAY_FORMS: readonly EverydayForm[] = rows
