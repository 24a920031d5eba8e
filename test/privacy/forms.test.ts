import { describe, expect, it } from 'vitest'
import { redact, redactAsCommand, redactValue } from '../../src/privacy/index.js'
import { Random } from './held-out/random.js'

const r = new Random(90_210)
const P = `${r.word(6)}-x9${r.word(4)}`
const K = r.word(40)
const HEX = r.hex(128)

/** How people and agents really give a password to something. */
const FORMS: Record<string, string> = {
  'curl over several lines': `curl -sS https://api.test/v1 \\\n  -H "Accept: text/plain" \\\n  -u admin:${P}`,
  'a quoted password with a blank': `sshpass -p "${P} tail" ssh host`,
  'quotes that are escaped': `sshpass -p \\"${P}\\" ssh host`,
  'a list of arguments': JSON.stringify(['mysql', '--password', P, 'db']),
  'a list of arguments, short flag': JSON.stringify(['curl', '-u', `admin:${P}`]),
  'docker login as a list': JSON.stringify(['docker', 'login', '-u', 'me', '-p', P]),
  'a variable of a pod': `env:\n  - name: DB_PASSWORD\n    value: ${P}`,
  'a variable of a pod in JSON': JSON.stringify({ name: 'DB_PASSWORD', value: P }),
  'an XML setting': `<add key="ApiKey" value="${K}"/>`,
  'a typed constant': `const password: string = "${P}"`,
  'a typed constant in Rust': `let password: &str = "${P}";`,
  'a role in SQL': `CREATE ROLE app WITH LOGIN PASSWORD '${P}'`,
  'SQL of another kind': `CREATE USER 'a'@'%' IDENTIFIED WITH mysql_native_password BY '${P}'`,
  'fish and csh': `set -gx DB_PASSWORD ${P}`,
  'aws configure': `aws configure set aws_secret_access_key ${K}`,
  'piped into sudo': `echo '${P}' | sudo -S systemctl restart web`,
  'piped into docker login': `printf '%s' "${P}" | docker login -u me --password-stdin`,
  'a here-string': `sudo -S ls <<< '${P}'`,
  chpasswd: `echo "root:${P}" | chpasswd`,
  'an archive': `zip -r -P ${P} out.zip src`,
  mongosh: `mongosh -u app -p ${P} --host db`,
  'ssh-keygen': `ssh-keygen -t ed25519 -N '${P}' -f id`,
  htpasswd: `htpasswd -bc .htpasswd eve ${P}`,
  'a secret of a repository': `gh secret set DEPLOY --body "${P}"`,
  'a wide colon': `password：${P}`,
  'a blank that does not break': `password:\u00a0${P}`,
  'a German name': `Passwort: ${P}`,
  'slashes that are escaped': `{"url":"postgres:\\/\\/app:${P}@db\\/main"}`,
  'the key of a web framework': `secret_key_base: ${HEX}`,
  'a string of PowerShell': `$p = ConvertTo-SecureString "${P}" -AsPlainText -Force`,
  'a constant of PHP': `define('DB_PASSWORD', '${P}');`,
  'an environment that is set by a call': `os.environ.setdefault("API_KEY", "${K}")`,
  'a setter': `client.setPassword("${P}")`,
  'a constant of Go': `const apiKey string = "${K}"`,
  'lines of YAML': `password: |\n  ${P}\nuser: eve`,
  'the second of several cookies': `Cookie: theme=dark; sessionid=${K}; lang=en`,
  'a cookie on the command line': `curl -s --cookie "sid=${K}" https://api.test`,
  'a settings file with blanks': `pass = ${P}`,
  'an equals sign that is escaped': `password\\u003d${P}`,
}

/** What looks like one of these and is none. */
const LOOK_ALIKES = [
  `curl -sS https://api.test/v1 \\\n  -H "Accept: text/plain"\ngit commit -m "x -u a:b"`,
  'password: string = undefined',
  'const password: string = await readPassword()',
  "const fields = ['password', 'username', 'email']",
  `localStorage.getItem('token')`,
  'Cookie: theme=dark; lang=en',
  'const pass = !this.result.issues || this.result.issues.length === 0',
  'ConvertTo-SecureString -AsPlainText $env:SECRET',
  'func check(password string, token string) error {',
  'map.set("key", "value-of-it")',
  'description: |\n  The password: see the manual',
  'interface Login { password: string; token?: string }',
  '- name: DB_PASSWORD\n  valueFrom: { secretKeyRef: { name: db, key: password } }',
  'zip -r out.zip src',
  'echo "$SUDO_PASSWORD" | sudo -S ls',
  'echo done | tee log',
  'ssh-keygen -t ed25519 -f id',
  'openssl x509 -in cert.pem -noout',
  'gh secret set DEPLOY < key.txt',
  "if (pem.startsWith('-----BEGIN PRIVATE KEY-----') && pem.endsWith('-----END PRIVATE KEY-----')) return read(pem)",
  'the rest of the line … (120 more)',
  // Near to the forms of everyday/forms.ts.
  'password = getpass("Enter your password: ")',
  'token = f"Bearer {session.token}"',
  'key = f"cache:{user.id}:v2"',
  'password:\n  type: string\n  minLength: 8',
  'passwords:\n  user1: admin\n  user2: guest',
  'if token:\n    return handle_v2(token)',
  'def login(user, password):\n    """Signs-in."""',
  'const key = process.env.API_KEY || ""',
  'apiKey: process.env.API_KEY ?? undefined,',
  '| token | string | required |',
  '| API_KEY | see the manual | no |',
  'echo "$TOKEN" | base64 --decode',
  'param Ed25519PrivateKey|Ed25519PublicKey key',
  'password = Some(value)',
  'let secret = Secret::new(load_secret(path)?);',
  '<key>token</key>\n<true/>',
  '#define MAX_KEY 128',
  'password = [[]]',
  '\x1b[32m✓\x1b[0m \x1b[2mkeeps the token in memory\x1b[0m \x1b[33m12ms\x1b[0m',
  '\x1b[36mpassword\x1b[0m: \x1b[33mstring\x1b[0m',
  '{\\"name\\":\\"token_count\\",\\"value\\":\\"1200\\"}',
  'auth=("user", "pass")',
]

describe('forms in which secrets are given', () => {
  it.each(Object.entries(FORMS))('%s', (_, text) => {
    const kept = [redact(text).text, redactAsCommand(text).text]
    for (const secret of [P, K, HEX]) for (const one of kept) expect(one).not.toContain(secret)
    for (const one of kept) expect(redact(one).text).toBe(one)
  })

  it.each(LOOK_ALIKES)('is left alone: %j', (text) => {
    expect(redact(text).text.replace('[REDACTED:private-key]', '-----BEGIN PRIVATE KEY-----')).toBe(text)
  })

  it('leaves nothing of a token whose end a reader cut off', () => {
    const cut = `the token ghp_${r.word(20)}… (1,234 more)`.replace('1,234', '1234')
    expect(redact(cut).text).toBe('the token [REDACTED:github-token]… (1234 more)')
  })
})

it('a value whose name stands in a field beside it goes', () => {
  const env = {
    env: [
      { name: 'DB_PASSWORD', value: P },
      { name: 'LANG', value: 'en_US.UTF-8' },
    ],
  }
  expect(redactValue(env, {})).toEqual({
    env: [
      { name: 'DB_PASSWORD', value: '[REDACTED:password]' },
      { name: 'LANG', value: 'en_US.UTF-8' },
    ],
  })
})

describe('a private key', () => {
  const dashes = '-'.repeat(5)
  const lines = [
    `${dashes}BEGIN RSA PRIVATE KEY${dashes}`,
    ...Array.from({ length: 12 }, () => r.base64(64)),
    `${r.base64(22)}==`,
    `${dashes}END RSA PRIVATE KEY${dashes}`,
  ]
  const LISTINGS: Record<string, (line: string, number: number) => string> = {
    'as it is': (line) => line,
    'as a tool lists a file': (line, number) => `${String(number).padStart(6)}→${line}`,
    'with cat -n': (line, number) => `${String(number).padStart(6)}\t${line}`,
    'with grep -n over files': (line, number) => `deploy/keys/web.pem:${number}:${line}`,
    'quoted in a mail': (line) => `> ${line}`,
    'as a comment': (line) => `# ${line}`,
    'as a comment of another kind': (line) => ` * ${line}`,
    'added by a diff': (line) => `+${line}`,
    'taken away by a diff': (line) => `-${line}`,
    'as strings of a program': (line) => `  "${line}\\n" +`,
  }
  const readable = (text: string): string[] =>
    lines.slice(1, -1).filter((line) => text.includes(line.slice(0, 16)) || text.includes(line.slice(-16)))

  it.each(Object.entries(LISTINGS))('goes whole %s', (_, list) => {
    const listed = lines.map((line, at) => list(line, at + 1))
    for (const text of [listed.join('\n'), JSON.stringify(listed.join('\n')), `before\n${listed.join('\n')}\nafter`]) {
      expect(readable(redact(text).text)).toEqual([])
      expect(redact(redact(text).text).text).toBe(redact(text).text)
    }
    expect(redact(`x\n${listed.join('\n')}\nthe words after it`).text).toContain('the words after it')
    // Cut by a reader at its end, or read from its middle on.
    expect(readable(redact(listed.slice(0, 8).join('\n')).text)).toEqual([])
    expect(readable(redact(listed.slice(5).join('\n')).text)).toEqual([])
  })

  it('goes with what an encrypted one says of itself', () => {
    const facts = ['Proc-Type: 4,ENCRYPTED', `DEK-Info: AES-128-CBC,${r.hex(32)}`, '']
    const listed = [lines[0] ?? '', ...facts, ...lines.slice(1)].map((line, at) => `${at + 1}:${line}`)
    expect(readable(redact(listed.join('\n')).text)).toEqual([])
  })
})
