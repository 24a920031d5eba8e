import { Random } from './held-out/random.js'

/** One secret per rule, for the tests that walk them. Not the held-out list: this one may be looked at while writing rules. */
export interface Sample {
  rule: string
  /** What must not be readable afterwards. */
  secret: string
  /** The secret with as much around it as its rule needs. */
  text: string
  /**
   * Which text may be put right beside it. `any`: every text. `word`: every text, but a letter or digit beside it would make
   * it another word. `line`: every text on other lines, because the rule reads the line.
   */
  beside: 'any' | 'word' | 'line'
}

const r = new Random(4_711)
const rows: Sample[] = []
const any = (rule: string, secret: string, text = secret): void => void rows.push({ rule, secret, text, beside: 'any' })
const word = (rule: string, secret: string, text = secret): void =>
  void rows.push({ rule, secret, text, beside: 'word' })
const line = (rule: string, secret: string, text: string): void =>
  void rows.push({ rule, secret, text, beside: 'line' })

any('aws-access-key-id', `AKIA${r.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', 16)}`)
word('aws-other-key-id', `ABIA${r.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', 16)}`)
any('google-api-key', `AIza${r.urlSafe(35)}`)
any('google-oauth-secret', `GOCSPX-${r.urlSafe(28)}`)
any('google-oauth-token', `ya29.${r.urlSafe(80)}`)
word('google-refresh-token', `1//0${r.urlSafe(60)}`)
any('azure-client-secret', `${r.word(3)}8Q~${r.word(34)}`)
any('bedrock-key', `bedrock-api-key-${r.base64(60)}`)
any('gitlab-runner-registration', `GR1348941${r.urlSafe(20)}`)
word('harness-token', `pat.${r.urlSafe(22)}.${r.hex(24)}.${r.word(20)}`)
any('digitalocean-token', `dop_v1_${r.hex(64)}`)
any('heroku-key', `HRKU-${r.urlSafe(60)}`)
word('cloudflare-origin-key', `v1.0-${r.hex(24)}-${r.hex(146)}`)
word('fly-token', `fm2_${r.base64(80)}`)
word('alibaba-key-id', `LTAI${r.word(20)}`)
word('netlify-token', `nfp_${r.word(36)}`)
word('supabase-token', `sbp_${r.hex(40)}`)
any('planetscale-token', `pscale_tkn_${r.word(43)}`)
any('databricks-token', `dapi${r.hex(32)}`)
any('terraform-token', `${r.word(14)}.atlasv1.${r.word(67)}`)
any('pulumi-token', `pul-${r.hex(40)}`)
any('doppler-token', `dp.st.prd.${r.word(43)}`)
any('github-token', `ghp_${r.word(36)}`)
any('github-fine-grained-token', `github_pat_${r.word(22)}_${r.word(59)}`)
any('gitlab-token', `glpat-${r.urlSafe(20)}`)
word('bitbucket-token', `ATBB${r.word(32)}`)
any('atlassian-token', `ATATT3${r.urlSafe(180)}`)
any('npm-token', `npm_${r.word(36)}`)
any('pypi-token', `pypi-AgEIcHlwaS5vcmc${r.urlSafe(100)}`)
any('rubygems-token', `rubygems_${r.hex(48)}`)
word('crates-token', `cio${r.word(32)}`)
word('resend-key', `re_${r.word(8)}_${r.word(24)}`)
any('airtable-token', `pat${r.word(14)}.${r.hex(64)}`)
any('adafruit-key', `aio_${r.word(28)}`)
word('nuget-token', `oy2${r.lower(43)}`)
any('docker-token', `dckr_pat_${r.urlSafe(27)}`)
any('artifactory-token', `AKCp${r.word(69)}`)
any('sonar-token', `sqp_${r.hex(40)}`)
any('circleci-token', `CCIPRJ_${r.word(22)}_${r.hex(40)}`)
any('buildkite-token', `bkua_${r.hex(40)}`)
any('slack-token', `xoxp-${r.digits(12)}-${r.digits(12)}-${r.hex(32)}`)
{
  const path = `T${r.upper(8)}/B${r.upper(8)}/${r.word(24)}`
  any('slack-webhook', path, `https://hooks.slack.com/services/${path}`)
  const hook = r.urlSafe(68)
  any('discord-webhook', hook, `https://discord.com/api/webhooks/${r.digits(18)}/${hook}`)
  const bot = `M${r.word(23)}.${r.word(6)}.${r.urlSafe(38)}`
  any('discord-token', bot, `Bot ${bot}`)
  any('telegram-token', `${r.digits(10)}:AA${r.urlSafe(33)}`)
  const teams = `${r.hex(32)}/${r.uuid()}`
  any('teams-webhook', teams, `https://a.webhook.office.com/webhookb2/x/IncomingWebhook/${teams}`)
}
any('sendgrid-key', `SG.${r.urlSafe(22)}.${r.urlSafe(43)}`)
any('mailgun-key', `key-${r.hex(32)}`)
word('mailchimp-key', `${r.hex(32)}-us7`)
any('brevo-key', `xkeysib-${r.hex(64)}-${r.word(16)}`)
word('twilio-key', `SK${r.hex(32)}`)
any('anthropic-key', `sk-ant-api03-${r.urlSafe(93)}AA`)
any('openai-key', `sk-proj-${r.urlSafe(120)}`)
any('openrouter-key', `sk-or-v1-${r.hex(64)}`)
word('sk-key', `sk-${r.word(48)}`)
any('hugging-face-token', `hf_${r.word(34)}`)
word('replicate-token', `r8_${r.word(37)}`)
any('groq-key', `gsk_${r.word(52)}`)
any('xai-key', `xai-${r.word(80)}`)
any('perplexity-key', `pplx-${r.word(48)}`)
any('langsmith-key', `lsv2_sk_${r.hex(32)}_${r.hex(10)}`)
word('fireworks-key', `fw_${r.word(24)}`)
any('stripe-key', `rk_${'test'}_${r.word(24)}`)
any('stripe-webhook-secret', `whsec_${r.word(32)}`)
word('square-token', `EAAA${r.urlSafe(60)}`)
any('square-secret', `sq0csp-${r.urlSafe(43)}`)
any('shopify-token', `shpca_${r.hex(32)}`)
any('braintree-token', `access_token$production$${r.lower(16)}$${r.hex(32)}`)
any('plaid-token', `access-sandbox-${r.uuid()}`)
word('facebook-token', `EAAC${r.word(120)}`)
any('new-relic-key', `NRAK-${r.upper(27)}`)
any('new-relic-license', `${r.hex(36)}NRAL`)
any('sentry-token', `sntryu_${r.hex(64)}`)
any('grafana-token', `glsa_${r.word(32)}_${r.hex(8)}`)
any('dynatrace-token', `dt0c01.${r.upper(24)}.${r.upper(64)}`)
any('honeycomb-key', `hcaik_${r.lower(58)}`)
any('linear-key', `lin_api_${r.word(40)}`)
any('notion-token', `ntn_${r.word(46)}`)
any('notion-secret', `secret_${r.word(43)}`)
any('figma-token', `figd_${r.urlSafe(40)}`)
any('asana-token', `1/1${r.digits(15)}:${r.hex(32)}`)
any('hubspot-token', `pat-eu1-${r.uuid()}`)
any('postman-key', `PMAK-${r.hex(24)}-${r.hex(34)}`)
any('vault-token', `hvs.${r.urlSafe(90)}`)
any('onepassword-token', `ops_eyJ${r.urlSafe(200)}`)
any('age-key', `AGE-SECRET-KEY-1${r.upper(58)}`)
any('tailscale-key', `tskey-auth-${r.word(16)}-${r.word(32)}`)
any('mapbox-token', `sk.eyJ${r.urlSafe(80)}.${r.urlSafe(22)}`)
any('contentful-token', `CFPAT-${r.urlSafe(43)}`)
word('launchdarkly-key', `sdk-${r.uuid()}`)
any('typeform-token', `tfp_${r.word(44)}`)
any('clojars-token', `CLOJARS_${r.hex(60)}`)
any('readme-key', `rdme_${r.lower(70)}`)
any('prefect-key', `pnu_${r.word(36)}`)
any('duffel-key', `duffel_${'test'}_${r.urlSafe(43)}`)
any('easypost-key', `EZAK${r.word(54)}`)
any('frame-io-token', `fio-u-${r.urlSafe(64)}`)
any('flutterwave-key', `FLWSECK-${r.hex(32)}-X`)
any('scalingo-token', `tk-us-${r.urlSafe(48)}`)
any('shippo-token', `shippo_${'test'}_${r.hex(40)}`)

{
  const dashes = '-'.repeat(5)
  const body = `${r.base64(64)}\n${r.base64(64)}\n${r.base64(30)}==`
  any('private-key', body, `${dashes}BEGIN EC PRIVATE KEY${dashes}\n${body}\n${dashes}END EC PRIVATE KEY${dashes}`)
  const putty = `${r.base64(64)}\n${r.base64(40)}`
  line('putty-key', putty, `Private-Lines: 2\n${putty}\n`)
  const claims = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  any('jwt', `${claims({ alg: 'HS256', typ: 'JWT' })}.${claims({ sub: r.digits(8) })}.${r.urlSafe(43)}`)
  const password = r.word(16)
  any('url-password', password, `mysql://app:${password}@db.test:3306/main`)
  const bearer = r.word(32)
  any('bearer', bearer, `Bearer ${bearer}`)
  const basic = Buffer.from(`eve:${r.word(15)}`).toString('base64')
  word('basic-auth', basic, `Basic ${basic}`)
  const header = r.word(24)
  word('authorization', header, `Authorization: ${header}`)
  const cookie = r.word(32)
  word('cookie', cookie, `Set-Cookie: sid=${cookie}`)
  const signature = `${r.word(43)}%3D`
  any('azure-signature', signature, `https://a.blob.core.windows.net/c?sp=r&sig=${signature}`)
  const keyData = r.base64(200)
  any('client-key-data', keyData, `client-key-data: ${keyData}`)
  any('password-hash', `$2b$12$${r.word(53)}`)
  const pgpass = r.word(14)
  line('pgpass', pgpass, `db.test:5432:app:eve:${pgpass}`)
  const encoded = `LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tC${r.word(80)}`
  any('encoded-private-key', encoded)
  const amz = r.hex(64)
  any('aws-signature', amz, `https://b.s3.amazonaws.com/k?X-Amz-Signature=${amz}`)
  const piped = r.word(14)
  line('piped-password', piped, `echo ${piped} | sudo -S apt update`)
  const identified = r.word(14)
  line('sql-password', identified, `ALTER USER eve IDENTIFIED BY '${identified}';`)
  const typed = r.word(12)
  line('command-password', typed, `curl -s -u eve:${typed} https://example.test`)
  const chosen = r.word(12)
  line('password', chosen, `DB_PASSWORD=${chosen}`)
  const made = [r.word(32), r.word(32), r.word(32)]
  line('secret', made[0] as string, `client_secret: "${made[0]}"`)
  line('token', made[1] as string, `export API_TOKEN=${made[1]}`)
  line('key', made[2] as string, `const apiKey = '${made[2]}'`)
}

export const SAMPLES: readonly Sample[] = rows
