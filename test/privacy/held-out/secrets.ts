import { Random } from './random.js'

/**
 * Secrets in the forms that vendors document, made before any rule was written. The rules are not written from this list
 * and not corrected after it: it measures them, and `docs/PRIVACY.md` has the figure.
 */
export interface HeldOut {
  kind: string
  /** What must not be readable afterwards. */
  secret: string
  /** The secret as it stands in a log, a command or a file. */
  text: string
}

const r = new Random(20_260_301)
const dashes = '-'.repeat(5)

/** A token that can be told by its own form: in a sentence, then in two of the places where tokens live. */
function token(kind: string, make: () => string, ...documented: ((secret: string) => string)[]): HeldOut[] {
  const places: ((secret: string) => string)[] = [
    (s) => `I used ${s} for this run and it worked.`,
    (s) => `{"headers":{"x-auth":"${s}"},"ok":true}`,
    (s) => `{\\"credential\\":\\"${s}\\"}`,
    (s) => `printf '%s' '${s}' | pbcopy`,
    (s) => `https://example.test/v1/items?access=${s}&page=2`,
    (s) => `  value: ${s}\n  other: 1`,
    (s) => `const client = new Client("${s}")`,
    (s) => `| name | ${s} |`,
  ]
  const first = places[0] as (secret: string) => string
  const second = places[1 + r.below(places.length - 1)] as (secret: string) => string
  return [first, second, ...documented].map((place) => {
    const secret = make()
    return { kind, secret, text: place(secret) }
  })
}

/** A secret with no form of its own: only what stands around it gives it away. */
function placed(kind: string, make: () => string, ...documented: ((secret: string) => string)[]): HeldOut[] {
  return documented.map((place) => {
    const secret = make()
    return { kind, secret, text: place(secret) }
  })
}

const pemBody = (lines: number): string => Array.from({ length: lines }, () => r.base64(64)).join('\n')
function pem(kind: string, label: string, headers = ''): HeldOut[] {
  const body = pemBody(6)
  const block = `${dashes}BEGIN ${label}${dashes}\n${headers}${body}\n${r.base64(22)}==\n${dashes}END ${label}${dashes}`
  const inJson = block.replaceAll('\n', '\\n')
  const cut = block.slice(0, -60)
  return [
    { kind, secret: body, text: `$ cat key\n${block}\n$ ` },
    { kind: `${kind} in JSON`, secret: body, text: `{"type":"x","private_key":"${inJson}","id":"a"}` },
    { kind: `${kind} cut off`, secret: body.slice(0, 128), text: `head -c 400 key\n${cut}` },
  ]
}

const b64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const jwt = (): string =>
  `${b64({ alg: 'RS256', typ: 'JWT', kid: r.word(8) })}.${b64({ sub: r.digits(10), name: 'Ada', iat: 1516239022 })}.${r.urlSafe(86)}`

export const HELD_OUT_SECRETS: readonly HeldOut[] = [
  // Clouds
  ...token(
    'aws access key id',
    () => `AKIA${r.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', 16)}`,
    (s) => `aws_access_key_id = ${s}`,
  ),
  ...token(
    'aws temporary key id',
    () => `ASIA${r.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', 16)}`,
    (s) => `export AWS_ACCESS_KEY_ID=${s}`,
  ),
  ...placed(
    'aws secret access key',
    () => r.base64(40),
    (s) => `[default]\naws_secret_access_key = ${s}\nregion = eu-west-1`,
    (s) => `AWS_SECRET_ACCESS_KEY=${s} aws s3 ls`,
    (s) => `"SecretAccessKey": "${s}",`,
    (s) => `new AWS.Credentials({ secretAccessKey: '${s}' })`,
  ),
  ...placed(
    'aws session token',
    () => `${r.base64(200)}==`,
    (s) => `aws_session_token = ${s}`,
    (s) => `"SessionToken": "${s}"`,
    (s) => `export AWS_SESSION_TOKEN="${s}"`,
  ),
  ...token(
    'google api key',
    () => `AIza${r.urlSafe(35)}`,
    (s) => `https://maps.googleapis.com/maps/api/js?key=${s}&callback=init`,
  ),
  ...token(
    'google oauth client secret',
    () => `GOCSPX-${r.urlSafe(28)}`,
    (s) => `"client_secret":"${s}"`,
  ),
  ...token(
    'google oauth access token',
    () => `ya29.a0${r.urlSafe(160)}`,
    (s) => `curl -H "Authorization: Bearer ${s}" https://www.googleapis.com/drive/v3/files`,
  ),
  ...token(
    'google oauth refresh token',
    () => `1//0${r.urlSafe(98)}`,
    (s) => `"refresh_token": "${s}"`,
  ),
  ...placed(
    'azure storage key',
    () => `${r.base64(86)}==`,
    (s) => `DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=${s};EndpointSuffix=core.windows.net`,
    (s) => `az storage blob list --account-name acme --account-key ${s}`,
    (s) => `AZURE_STORAGE_KEY='${s}'`,
  ),
  ...placed(
    'azure sas signature',
    () => `${r.word(43)}%3D`,
    (s) =>
      `https://acme.blob.core.windows.net/c/f.txt?sv=2022-11-02&ss=b&srt=sco&sp=rl&se=2026-01-01T00:00:00Z&sig=${s}`,
    (s) => `azcopy copy "https://acme.blob.core.windows.net/c?sp=racwdl&st=2026-01-01&sig=${s}&sr=c" .`,
  ),
  ...token(
    'azure client secret',
    () => `${r.word(3)}8Q~${r.urlSafe(34)}`,
    (s) => `az login --service-principal -u app -p ${s} --tenant t`,
  ),
  ...placed(
    'azure service bus key',
    () => `${r.base64(43)}=`,
    (s) =>
      `Endpoint=sb://acme.servicebus.windows.net/;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=${s}`,
  ),
  ...token(
    'digitalocean token',
    () => `dop_v1_${r.hex(64)}`,
    (s) => `doctl auth init -t ${s}`,
  ),
  ...token('digitalocean oauth', () => `doo_v1_${r.hex(64)}`),
  ...token('digitalocean refresh', () => `dor_v1_${r.hex(64)}`),
  ...placed(
    'heroku api key',
    () => r.uuid(),
    (s) => `HEROKU_API_KEY=${s}`,
    (s) => `machine api.heroku.com\n  login ada@example.test\n  password ${s}`,
  ),
  ...token('heroku platform key', () => `HRKU-AA${r.urlSafe(58)}`),
  ...placed(
    'cloudflare token',
    () => r.urlSafe(40),
    (s) => `CLOUDFLARE_API_TOKEN=${s} wrangler deploy`,
    (s) => `curl -H 'Authorization: Bearer ${s}' https://api.cloudflare.com/client/v4/user`,
  ),
  ...placed(
    'cloudflare global key',
    () => r.hex(37),
    (s) => `-H "X-Auth-Email: a@example.test" -H "X-Auth-Key: ${s}"`,
  ),
  ...token('cloudflare origin ca', () => `v1.0-${r.hex(24)}-${r.hex(146)}`),
  ...token(
    'fly token',
    () => `FlyV1 fm2_${r.base64(120)}`,
    (s) => `FLY_API_TOKEN="${s}"`,
  ),
  ...token('alibaba key id', () => `LTAI5t${r.word(18)}`),
  ...placed(
    'ibm cloud key',
    () => r.urlSafe(44),
    (s) => `ibmcloud login --apikey ${s}`,
    (s) => `IBMCLOUD_API_KEY=${s}`,
  ),
  ...placed(
    'vercel token',
    () => r.word(24),
    (s) => `vercel deploy --token ${s}`,
    (s) => `VERCEL_TOKEN=${s}`,
  ),
  ...token('netlify token', () => `nfp_${r.word(36)}`),
  ...token('supabase service key', () => `sbp_${r.hex(40)}`),
  ...token('planetscale password', () => `pscale_pw_${r.urlSafe(43)}`),
  ...token(
    'databricks token',
    () => `dapi${r.hex(32)}`,
    (s) => `databricks configure --token <<< ${s}`,
  ),
  ...token(
    'terraform cloud token',
    () => `${r.word(14)}.atlasv1.${r.urlSafe(67)}`,
    (s) => `credentials "app.terraform.io" {\n  token = "${s}"\n}`,
  ),
  ...token('pulumi token', () => `pul-${r.hex(40)}`),
  ...token(
    'doppler token',
    () => `dp.pt.${r.word(43)}`,
    (s) => `DOPPLER_TOKEN=${s}`,
  ),

  // Code hosting and packages
  ...token(
    'github classic',
    () => `ghp_${r.word(36)}`,
    (s) => `git clone https://${s}@github.com/acme/app.git`,
    (s) => `git remote set-url origin https://ada:${s}@github.com/acme/app`,
  ),
  ...token(
    'github fine-grained',
    () => `github_pat_${r.word(22)}_${r.word(59)}`,
    (s) => `gh auth login --with-token <<< "${s}"`,
  ),
  ...token(
    'github oauth',
    () => `gho_${r.word(36)}`,
    (s) => `    oauth_token: ${s}`,
  ),
  ...token(
    'github app installation',
    () => `ghs_${r.word(36)}`,
    (s) => `https://x-access-token:${s}@github.com/acme/app.git`,
  ),
  ...token('github user to server', () => `ghu_${r.word(36)}`),
  ...token('github refresh', () => `ghr_${r.word(76)}`),
  ...token(
    'gitlab personal',
    () => `glpat-${r.urlSafe(20)}`,
    (s) => `curl --header "PRIVATE-TOKEN: ${s}" https://gitlab.example.test/api/v4/projects`,
  ),
  ...token('gitlab personal, routable', () => `glpat-${r.urlSafe(27)}.01.${r.lower(9)}`),
  ...token('gitlab runner', () => `glrt-${r.urlSafe(20)}`),
  ...token('gitlab deploy', () => `gldt-${r.urlSafe(20)}`),
  ...token('gitlab trigger', () => `glptt-${r.hex(40)}`),
  ...token('gitlab ci job', () => `glcbt-${r.word(2)}_${r.urlSafe(20)}`),
  ...token('bitbucket app password', () => `ATBB${r.word(32)}`),
  ...token(
    'atlassian api token',
    () => `ATATT3xFfGF0${r.urlSafe(171)}=${r.upper(8)}`,
    (s) => `curl -u ada@example.test:${s} https://acme.atlassian.net/rest/api/3/myself`,
  ),
  ...token(
    'npm',
    () => `npm_${r.word(36)}`,
    (s) => `//registry.example.test/:_authToken=${s}`,
  ),
  ...placed(
    'npm legacy',
    () => r.uuid(),
    (s) => `//registry.example.test/:_authToken=${s}`,
  ),
  ...placed(
    'npm basic',
    () => Buffer.from(`ada:${r.word(16)}`).toString('base64'),
    (s) => `//registry.example.test/:_auth=${s}`,
    (s) => `_auth = "${s}"`,
  ),
  ...token(
    'pypi',
    () => `pypi-AgEIcHlwaS5vcmc${r.urlSafe(150)}`,
    (s) => `[pypi]\nusername = __token__\npassword = ${s}`,
  ),
  ...token('rubygems', () => `rubygems_${r.hex(48)}`),
  ...token(
    'crates.io',
    () => `cio${r.word(32)}`,
    (s) => `cargo login ${s}`,
  ),
  ...token(
    'nuget',
    () => `oy2${r.lower(43)}`,
    (s) => `dotnet nuget push a.nupkg --api-key ${s}`,
  ),
  ...token(
    'docker hub',
    () => `dckr_pat_${r.urlSafe(27)}`,
    (s) => `echo ${s} | docker login -u ada --password-stdin`,
  ),
  ...placed(
    'docker login',
    () => r.password(14),
    (s) => `docker login -u ada -p '${s}' registry.example.test`,
  ),
  ...placed(
    'docker config auth',
    () => Buffer.from(`ada:${r.word(20)}`).toString('base64'),
    (s) => `{"auths":{"registry.example.test":{"auth":"${s}"}}}`,
  ),
  ...token('artifactory', () => `AKCp8${r.word(68)}`),
  ...token('sonar', () => `squ_${r.hex(40)}`),
  ...token('circleci', () => `CCIPAT_${r.word(22)}_${r.hex(40)}`),
  ...token('buildkite', () => `bkua_${r.hex(40)}`),

  // Chat and mail
  ...token(
    'slack bot',
    () => `xoxb-${r.digits(12)}-${r.digits(13)}-${r.word(24)}`,
    (s) => `SLACK_BOT_TOKEN=${s}`,
  ),
  ...token('slack user', () => `xoxp-${r.digits(12)}-${r.digits(12)}-${r.digits(12)}-${r.hex(32)}`),
  ...token('slack app', () => `xapp-1-A${r.upper(10)}-${r.digits(13)}-${r.hex(64)}`),
  ...token('slack refresh', () => `xoxe-1-${r.word(146)}`),
  ...placed(
    'slack webhook',
    () => `T${r.upper(8)}/B${r.upper(10)}/${r.word(24)}`,
    (s) => `curl -X POST https://hooks.slack.com/services/${s} -d '{"text":"hi"}'`,
    (s) => `SLACK_WEBHOOK_URL=https://hooks.slack.com/services/${s}`,
  ),
  ...token(
    'discord bot',
    () => `M${r.word(23)}.${r.word(6)}.${r.urlSafe(38)}`,
    (s) => `client.login('${s}')`,
  ),
  ...placed(
    'discord webhook',
    () => r.urlSafe(68),
    (s) => `https://discord.com/api/webhooks/${r.digits(18)}/${s}`,
    (s) => `https://discordapp.com/api/webhooks/${r.digits(19)}/${s}`,
  ),
  ...token(
    'telegram bot',
    () => `${r.digits(10)}:AA${r.urlSafe(33)}`,
    (s) => `curl https://api.telegram.org/bot${s}/getMe`,
  ),
  ...placed(
    'teams webhook',
    () => `${r.hex(32)}/${r.uuid()}`,
    (s) => `https://acme.webhook.office.com/webhookb2/${r.uuid()}@${r.uuid()}/IncomingWebhook/${s}`,
  ),
  ...token(
    'sendgrid',
    () => `SG.${r.urlSafe(22)}.${r.urlSafe(43)}`,
    (s) => `SENDGRID_API_KEY='${s}'`,
  ),
  ...token(
    'mailgun',
    () => `key-${r.hex(32)}`,
    (s) => `curl -s --user 'api:${s}' https://api.mailgun.net/v3/x/messages`,
  ),
  ...token('mailchimp', () => `${r.hex(32)}-us14`),
  ...placed(
    'twilio auth token',
    () => r.hex(32),
    (s) => `TWILIO_AUTH_TOKEN=${s}`,
    (s) => `curl -u AC${r.hex(32)}:${s} https://api.twilio.com/2010-04-01/Accounts`,
  ),
  ...token('twilio api key', () => `SK${r.hex(32)}`),
  ...placed(
    'postmark',
    () => r.uuid(),
    (s) => `curl -H "X-Postmark-Server-Token: ${s}" https://api.postmarkapp.com/email`,
  ),
  ...token('resend', () => `re_${r.word(8)}_${r.word(24)}`),

  // Models
  ...token(
    'anthropic',
    () => `sk-ant-api03-${r.urlSafe(93)}AA`,
    (s) => `curl https://api.anthropic.com/v1/messages -H "x-api-key: ${s}"`,
  ),
  ...token('anthropic admin', () => `sk-ant-admin01-${r.urlSafe(93)}AA`),
  ...token(
    'anthropic oauth',
    () => `sk-ant-oat01-${r.urlSafe(93)}AA`,
    (s) => `CLAUDE_CODE_OAUTH_TOKEN=${s}`,
  ),
  ...token(
    'openai',
    () => `sk-${r.word(20)}T3BlbkFJ${r.word(20)}`,
    (s) => `OPENAI_API_KEY=${s}`,
  ),
  ...token('openai project', () => `sk-proj-${r.urlSafe(74)}T3BlbkFJ${r.urlSafe(74)}`),
  ...token('openai service account', () => `sk-svcacct-${r.urlSafe(74)}T3BlbkFJ${r.urlSafe(74)}`),
  ...token('openrouter', () => `sk-or-v1-${r.hex(64)}`),
  ...token(
    'hugging face',
    () => `hf_${r.word(34)}`,
    (s) => `huggingface-cli login --token ${s}`,
  ),
  ...token('replicate', () => `r8_${r.word(37)}`),
  ...token('groq', () => `gsk_${r.word(52)}`),
  ...token('xai', () => `xai-${r.word(80)}`),
  ...token('perplexity', () => `pplx-${r.word(48)}`),
  ...placed(
    'mistral',
    () => r.word(32),
    (s) => `MISTRAL_API_KEY=${s}`,
    (s) => `export MISTRAL_API_KEY="${s}"`,
  ),
  ...token('deepseek', () => `sk-${r.hex(32)}`),
  ...token('langsmith', () => `lsv2_pt_${r.hex(32)}_${r.hex(10)}`),

  // Money
  ...token(
    'stripe live',
    () => `sk_${'live'}_${r.word(24)}`,
    (s) => `curl https://api.stripe.com/v1/charges -u ${s}:`,
  ),
  ...token('stripe live, long', () => `sk_${'live'}_51${r.word(97)}`),
  ...token('stripe test', () => `sk_${'test'}_${r.word(24)}`),
  ...token('stripe restricted', () => `rk_${'live'}_${r.word(24)}`),
  ...token(
    'stripe webhook',
    () => `whsec_${r.word(32)}`,
    (s) => `STRIPE_WEBHOOK_SECRET=${s}`,
  ),
  ...token('square access', () => `EAAA${r.urlSafe(60)}`),
  ...token('square secret', () => `sq0csp-${r.urlSafe(43)}`),
  ...token(
    'shopify',
    () => `shpat_${r.hex(32)}`,
    (s) => `X-Shopify-Access-Token: ${s}`,
  ),
  ...token('shopify shared secret', () => `shpss_${r.hex(32)}`),
  ...placed(
    'paypal secret',
    () => r.urlSafe(80),
    (s) => `curl -u "${r.urlSafe(80)}:${s}" https://api-m.paypal.com/v1/oauth2/token`,
  ),
  ...token('braintree', () => `access_token$production$${r.lower(16)}$${r.hex(32)}`),
  ...token('plaid', () => `access-production-${r.uuid()}`),

  // Watching and working
  ...placed(
    'datadog',
    () => r.hex(32),
    (s) => `DD_API_KEY=${s} datadog-agent run`,
    (s) => `-H "DD-API-KEY: ${s}"`,
    (s) => `datadog:\n  apiKey: ${s}`,
  ),
  ...placed(
    'datadog app',
    () => r.hex(40),
    (s) => `-H "DD-APPLICATION-KEY: ${s}"`,
    (s) => `export DD_APP_KEY="${s}"`,
  ),
  ...token('new relic user', () => `NRAK-${r.upper(27)}`),
  ...token('new relic ingest', () => `${r.hex(36)}FFFFNRAL`),
  ...token(
    'sentry org',
    () =>
      `sntrys_${Buffer.from(`{"iat":${r.digits(10)}.1,"url":"https://sentry.io"}`).toString('base64')}_${r.base64(43)}`,
  ),
  ...token('sentry user', () => `sntryu_${r.hex(64)}`),
  ...placed(
    'sentry dsn',
    () => r.hex(32),
    (s) => `SENTRY_DSN=https://${r.hex(32)}:${s}@o1.ingest.sentry.io/42`,
  ),
  ...token('grafana service account', () => `glsa_${r.word(32)}_${r.hex(8)}`),
  ...token('grafana cloud', () => `glc_${r.base64(80)}=`),
  ...token('dynatrace', () => `dt0c01.${r.upper(24)}.${r.upper(64)}`),
  ...token('honeycomb', () => `hcaik_01${r.lower(56)}`),
  ...token(
    'linear',
    () => `lin_api_${r.word(40)}`,
    (s) => `curl -H "Authorization: ${s}" https://api.linear.app/graphql`,
  ),
  ...token('notion', () => `ntn_${r.digits(11)}${r.word(35)}`),
  ...token(
    'notion, older',
    () => `secret_${r.word(43)}`,
    (s) => `NOTION_TOKEN=${s}`,
  ),
  ...token(
    'figma',
    () => `figd_${r.urlSafe(40)}`,
    (s) => `X-Figma-Token: ${s}`,
  ),
  ...token('airtable', () => `pat${r.word(14)}.${r.hex(64)}`),
  ...token('asana', () => `2/${r.digits(16)}/${r.digits(16)}:${r.hex(32)}`),
  ...token('hubspot', () => `pat-na1-${r.uuid()}`),
  ...token('intercom', () => `dG9rOj${r.base64(54)}=`),
  ...token('postman', () => `PMAK-${r.hex(24)}-${r.hex(34)}`),
  ...placed(
    'okta',
    () => `00${r.urlSafe(40)}`,
    (s) => `curl -H "Authorization: SSWS ${s}" https://acme.okta.com/api/v1/users`,
  ),
  ...placed(
    'auth0 client secret',
    () => r.urlSafe(64),
    (s) => `AUTH0_CLIENT_SECRET=${s}`,
    (s) => `{"grant_type":"client_credentials","client_secret":"${s}"}`,
  ),
  ...token(
    'vault service',
    () => `hvs.${r.urlSafe(90)}`,
    (s) => `vault login ${s}`,
  ),
  ...token('vault batch', () => `hvb.${r.urlSafe(140)}`),
  ...placed(
    'vault, older',
    () => `s.${r.word(24)}`,
    (s) => `VAULT_TOKEN=${s}`,
    (s) => `X-Vault-Token: ${s}`,
  ),
  ...token('1password service account', () => `ops_eyJ${r.urlSafe(250)}`),
  ...token('age key', () => `AGE-SECRET-KEY-1${r.from('QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L', 58)}`),
  ...token(
    'tailscale',
    () => `tskey-auth-${r.word(16)}CNTRL-${r.word(32)}`,
    (s) => `tailscale up --authkey ${s}`,
  ),
  ...token('mapbox secret', () => `sk.eyJ1${r.urlSafe(80)}.${r.urlSafe(22)}`),
  ...token('contentful', () => `CFPAT-${r.urlSafe(43)}`),
  ...token('facebook', () => `EAACEdEose0cBA${r.word(120)}`),
  ...placed(
    'twitter bearer',
    () => `AAAAAAAAAAAAAAAAAAAAA${r.word(60)}%3D${r.word(20)}`,
    (s) => `curl -H "Authorization: Bearer ${s}" https://api.twitter.com/2/tweets`,
  ),

  // Anyone's
  ...token(
    'jwt',
    jwt,
    (s) => `Cookie: session=${s}; theme=dark`,
    (s) => `Authorization: Bearer ${s}`,
  ),
  ...pem('rsa private key', 'RSA PRIVATE KEY'),
  ...pem('pkcs8 private key', 'PRIVATE KEY'),
  ...pem('encrypted pkcs8 private key', 'ENCRYPTED PRIVATE KEY'),
  ...pem(
    'encrypted rsa private key',
    'RSA PRIVATE KEY',
    `Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,${r.upper(32)}\n\n`,
  ),
  ...pem('ec private key', 'EC PRIVATE KEY'),
  ...pem('dsa private key', 'DSA PRIVATE KEY'),
  ...pem('openssh private key', 'OPENSSH PRIVATE KEY'),
  ...pem('pgp private key', 'PGP PRIVATE KEY BLOCK', 'Version: GnuPG v2\n\n'),
  ...pem('ssh.com private key', 'SSH2 ENCRYPTED PRIVATE KEY').slice(0, 1),
  ...placed(
    'putty key',
    () => pemBody(4),
    (s) =>
      `PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: ada\nPrivate-Lines: 4\n${s}\nPrivate-MAC: ${r.hex(64)}`,
  ),
  ...placed(
    'url password',
    () => r.password(12),
    (s) => `curl https://ada:${s}@internal.example.test/path`,
    (s) => `wget ftp://backup:${s}@10.0.0.7/dump.tgz`,
    (s) => `http_proxy=http://user:${s}@proxy:3128`,
  ),
  ...placed(
    'database url',
    () => r.word(18),
    (s) => `DATABASE_URL=postgres://app:${s}@db.internal:5432/main?sslmode=require`,
    (s) => `mysql://root:${s}@127.0.0.1:3306/shop`,
    (s) => `mongodb+srv://ada:${s}@cluster0.ab1cd.mongodb.net/test?retryWrites=true`,
    (s) => `redis://:${s}@cache:6379/0`,
    (s) => `rediss://default:${s}@eu1.upstash.io:6379`,
    (s) => `amqps://guest:${s}@mq.example.test/vhost`,
    (s) => `postgresql+asyncpg://svc:${s}@db/app`,
    (s) => `clickhouse://u:${s}@ch:9000/default`,
    (s) => `jdbc:postgresql://db:5432/app?user=app&password=${s}`,
    (s) => `jdbc:sqlserver://db:1433;databaseName=x;user=sa;password=${s};encrypt=true`,
  ),
  ...placed(
    'connection string',
    () => r.password(16),
    (s) => `Server=tcp:db,1433;Initial Catalog=app;User ID=sa;Password=${s};Encrypt=True`,
    (s) => `host=db port=5432 dbname=app user=app password='${s}'`,
    (s) => `Data Source=db;Uid=root;Pwd=${s};`,
  ),
  ...placed(
    'password flag',
    () => r.password(13),
    (s) => `mytool login --user ada --password ${s}`,
    (s) => `mytool login --password=${s} --verbose`,
    (s) => `mysql -u root -p${s} shop`,
    (s) => `mysqldump --password="${s}" shop > d.sql`,
    (s) => `sshpass -p '${s}' ssh ada@host`,
    (s) => `redis-cli -h cache -a ${s} ping`,
    (s) => `PGPASSWORD=${s} psql -h db app`,
    (s) => `MYSQL_PWD='${s}' mysql app`,
  ),
  ...placed(
    'token flag',
    () => r.word(28),
    (s) => `deploy --token ${s} --env prod`,
    (s) => `deploy --api-key=${s}`,
    (s) => `deploy --access-token "${s}"`,
    (s) => `deploy --client-secret ${s}`,
    (s) => `helm upgrade x . --set auth.secretKey=${s}`,
  ),
  ...placed(
    'basic auth flag',
    () => r.password(11),
    (s) => `curl -u ada:${s} https://example.test/`,
    (s) => `curl -sS -uada:${s} https://example.test/`,
    (s) => `curl --user "ada:${s}" https://example.test/`,
    (s) => `http -a ada:${s} GET example.test`,
    (s) => `wget --user=ada --password=${s} https://example.test/`,
  ),
  ...placed(
    'authorization header',
    () => r.urlSafe(34),
    (s) => `Authorization: Bearer ${s}`,
    (s) => `curl -H 'authorization: bearer ${s}' example.test`,
    (s) => `{"Authorization":"Bearer ${s}"}`,
    (s) => `headers: { Authorization: \`Bearer ${s}\` }`,
    (s) => `Authorization: Token ${s}`,
    (s) => `Proxy-Authorization: Bearer ${s}`,
  ),
  ...placed(
    'basic header',
    () => Buffer.from(`ada:${r.word(18)}`).toString('base64'),
    (s) => `Authorization: Basic ${s}`,
    (s) => `curl -H "authorization: basic ${s}" example.test`,
  ),
  ...placed(
    'api key header',
    () => r.word(32),
    (s) => `-H "X-API-Key: ${s}"`,
    (s) => `"x-api-key": "${s}"`,
    (s) => `Ocp-Apim-Subscription-Key: ${s}`,
    (s) => `api-key: ${s}`,
  ),
  ...placed(
    'cookie',
    () => r.urlSafe(40),
    (s) => `Set-Cookie: sessionid=${s}; HttpOnly; Path=/`,
    (s) => `curl -b 'session_token=${s}' example.test`,
  ),
  ...placed(
    'env line',
    () => r.word(24),
    (s) => `DB_PASSWORD="${s}"`,
    (s) => `export SECRET_KEY=${s}`,
    (s) => `JWT_SECRET='${s}'`,
    (s) => `APP_KEY=base64:${s}=`,
    (s) => `ENCRYPTION_KEY=${s}`,
    (s) => `MY_SERVICE_TOKEN=${s}`,
    (s) => `REDIS_PASS=${s}`,
    (s) => `SMTP_PASSWD=${s}`,
    (s) => `set ADMIN_PASSWORD=${s}`,
    (s) => `$env:API_SECRET = "${s}"`,
    (s) => `ENV STRIPE_SECRET ${s}`,
  ),
  ...placed(
    'configuration file',
    () => r.password(15),
    (s) => `spring.datasource.password=${s}`,
    (s) => `  password: ${s}\n  host: db`,
    (s) => `  db_password: "${s}"`,
    (s) => `"password": "${s}",`,
    (s) => `{\\"password\\":\\"${s}\\"}`,
    (s) => `<password>${s}</password>`,
    (s) => `password => '${s}'`,
    (s) => `const dbPassword = '${s}'`,
    (s) => `passphrase = "${s}"`,
    (s) => `requirepass ${s}`,
  ),
  ...placed(
    'code',
    () => r.word(30),
    (s) => `const apiKey = "${s}";`,
    (s) => `API_KEY: "${s}"`,
    (s) => `client_secret='${s}'`,
    (s) => `var authToken = '${s}'`,
    (s) => `self.secret_key = "${s}"`,
    (s) => `os.environ["SERVICE_API_KEY"] = "${s}"`,
    (s) => `process.env.SERVICE_TOKEN = '${s}'`,
    (s) => `signing_key := "${s}"`,
    (s) => `private static final String ACCESS_TOKEN = "${s}";`,
  ),
  ...placed(
    'netrc',
    () => r.password(12),
    (s) => `machine example.test login ada password ${s}`,
    (s) => `machine h\n\tlogin ada\n\tpassword ${s}\n`,
  ),
  ...placed(
    'pgpass',
    () => r.password(12),
    (s) => `$ cat ~/.pgpass\ndb.internal:5432:app:ada:${s}`,
    (s) => `*:*:*:postgres:${s}`,
  ),
  ...placed(
    'kubeconfig',
    () => `${r.base64(300)}==`,
    (s) => `    client-key-data: ${s}`,
    (s) => `users:\n- name: ada\n  user:\n    token: ${s}`,
  ),
  ...placed(
    'kubernetes secret',
    () => Buffer.from(r.word(21)).toString('base64'),
    (s) => `kind: Secret\ndata:\n  password: ${s}`,
    (s) => `kubectl create secret generic x --from-literal=password=${s}`,
  ),
  ...placed(
    'htpasswd',
    () => `$2y$05$${r.base64(53).replaceAll('+', '.')}`,
    (s) => `ada:${s}`,
  ),
  ...placed(
    'shadow',
    () => `$6$${r.word(8)}$${r.base64(86).replaceAll('+', '.')}`,
    (s) => `root:${s}:19000:0:99999:7:::`,
  ),
  ...placed(
    'wireguard',
    () => `${r.base64(43)}=`,
    (s) => `[Interface]\nPrivateKey = ${s}\nAddress = 10.0.0.1/24`,
  ),
  ...placed(
    'form field',
    () => r.word(20),
    (s) => `curl -d 'grant_type=password&username=ada&password=${s}' example.test`,
    (s) => `?api_key=${s}&v=1`,
    (s) => `https://example.test/cb?access_token=${s}#x`,
  ),
]
