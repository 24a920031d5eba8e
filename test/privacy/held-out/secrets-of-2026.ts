import { Random } from './random.js'
import type { HeldOut } from './secrets.js'

/**
 * A second list, of forms that vendors have introduced since or that the first one does not have. It was made before the rules
 * were looked at with it; `docs/PRIVACY.md` has the figure from before and the one from after.
 */
const r = new Random(20_261_116)

const PLACES: readonly ((secret: string) => string)[] = [
  (s) => `The run went through with ${s} in the end.`,
  (s) => `{"headers":{"x-custom":"${s}"},"ok":true}`,
  (s) => `{\\"value\\":\\"${s}\\"}`,
  (s) => `printf '%s' '${s}' | pbcopy`,
  (s) => `https://example.test/v1/items?a=${s}&page=2`,
  (s) => `  value: ${s}\n  other: 1`,
  (s) => `const client = new Client("${s}")`,
  (s) => `| name | ${s} |`,
  (s) => `+    \`${s}\`,`,
  (s) => `cat <<'EOT'\n${s}\nEOT`,
]

let turn = 0
/** A token with a form of its own: in three places that say nothing about it. */
function token(kind: string, make: () => string): HeldOut[] {
  turn += 1
  return [0, 3, 7].map((step) => {
    const secret = make()
    const place = PLACES[(turn + step) % PLACES.length] as (secret: string) => string
    return { kind, secret, text: place(secret) }
  })
}

/** A secret that only what stands around it gives away. */
function placed(kind: string, make: () => string, ...places: ((secret: string) => string)[]): HeldOut[] {
  return places.map((place) => {
    const secret = make()
    return { kind, secret, text: place(secret) }
  })
}

const dashes = '-'.repeat(5)
const pemLines = (count: number, end: string): string => Array.from({ length: count }, () => r.base64(64)).join(end)

function pemIn(kind: string, end: string, around: (block: string) => string): HeldOut[] {
  const body = pemLines(5, end)
  const block = `${dashes}BEGIN PRIVATE KEY${dashes}${end}${body}${end}${dashes}END PRIVATE KEY${dashes}`
  return [{ kind, secret: body, text: around(block) }]
}

export const SECRETS_OF_2026: readonly HeldOut[] = [
  // Models
  ...token('openai project key', () => `sk-proj-${r.urlSafe(74)}T3BlbkFJ${r.urlSafe(74)}`),
  ...token('openai service account key', () => `sk-svcacct-${r.urlSafe(58)}T3BlbkFJ${r.urlSafe(58)}`),
  ...token('openai admin key', () => `sk-admin-${r.urlSafe(58)}T3BlbkFJ${r.urlSafe(58)}`),
  ...token('anthropic key', () => `sk-ant-api03-${r.urlSafe(93)}AA`),
  ...token('anthropic admin key', () => `sk-ant-admin01-${r.urlSafe(93)}AA`),
  ...token('anthropic oauth', () => `sk-ant-oat01-${r.urlSafe(86)}AA`),
  ...token('google auth key', () => `AQ.Ab8RN6${r.urlSafe(44)}`),
  ...token('xai key', () => `xai-${r.word(80)}`),
  ...token('groq key', () => `gsk_${r.word(52)}`),
  ...token('perplexity key', () => `pplx-${r.word(48)}`),
  ...token('hugging face token', () => `hf_${r.from('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ', 34)}`),
  ...token('replicate token', () => `r8_${r.word(37)}`),
  ...token('cerebras key', () => `csk-${r.lower(48)}`),
  ...token('together key', () => `tgp_v1_${r.urlSafe(43)}`),
  ...token('elevenlabs key', () => `sk_${r.hex(48)}`),
  ...token('tavily key', () => `tvly-dev-${r.word(32)}`),
  ...token('firecrawl key', () => `fc-${r.hex(32)}`),
  ...token('jina key', () => `jina_${r.hex(32)}${r.urlSafe(28)}`),
  ...token('voyage key', () => `pa-${r.urlSafe(43)}`),
  ...token('pinecone key', () => `pcsk_${r.word(6)}_${r.word(63)}`),
  ...token('langfuse secret key', () => `sk-lf-${r.uuid()}`),
  ...token('e2b key', () => `e2b_${r.hex(40)}`),
  ...token('aws bedrock key', () => `ABSKQmVkcm9ja0FQSUtleS${r.base64(106)}`),
  ...token('cursor key', () => `key_${r.hex(64)}`),
  ...placed(
    'azure openai key',
    () => `${r.word(52)}JQQJ99BCAC${r.word(18)}ACOG${r.word(4)}`,
    (s) => `The run went through with ${s} in the end.`,
    (s) => `curl -H "api-key: ${s}" https://acme.openai.azure.com/`,
    (s) => `AZURE_OPENAI_API_KEY=${s}`,
  ),

  // Clouds and hosting
  ...token('cloudflare user token', () => `cfut_${r.word(40)}${r.hex(8)}`),
  ...token('cloudflare account token', () => `cfat_${r.word(40)}${r.hex(8)}`),
  ...token('cloudflare global key', () => `cfk_${r.word(40)}${r.hex(8)}`),
  ...placed(
    'cloudflare token',
    () => r.urlSafe(40),
    (s) => `CLOUDFLARE_API_TOKEN=${s} wrangler deploy`,
    (s) => `curl -H "X-Auth-Key: ${s}" https://api.cloudflare.com/client/v4/zones`,
  ),
  ...token('vercel token', () => `vcp_${r.word(56)}`),
  ...token('vercel ai gateway key', () => `vck_${r.word(56)}`),
  ...token('vercel blob token', () => `vercel_blob_rw_${r.word(16)}_${r.word(30)}`),
  ...placed(
    'vercel token without a form',
    () => r.word(24),
    (s) => `vercel deploy --token ${s}`,
    (s) => `VERCEL_TOKEN=${s}`,
  ),
  ...token('supabase token', () => `sbp_${r.hex(40)}`),
  ...token('supabase secret key', () => `sb_secret_${r.urlSafe(22)}_${r.urlSafe(8)}`),
  ...token('digitalocean token', () => `dop_v1_${r.hex(64)}`),
  ...token('digitalocean spaces key', () => `DO00${r.from('ABCDEFGHJKLMNPQRSTUVWXYZ23456789', 16)}`),
  ...token('neon key', () => `napi_${r.lower(64)}`),
  ...token('render key', () => `rnd_${r.word(28)}`),
  ...token('planetscale token', () => `pscale_tkn_${r.urlSafe(43)}`),
  ...token('databricks token', () => `dapi${r.hex(32)}-2`),
  ...token('doppler service token', () => `dp.st.dev.${r.word(43)}`),
  ...token('terraform token', () => `${r.word(14)}.atlasv1.${r.word(67)}`),
  ...token('mongodb service account', () => `mdb_sa_sk_${r.urlSafe(40)}`),
  ...token('aiven password', () => `AVNS_${r.urlSafe(19)}`),
  ...token('tailscale auth key', () => `tskey-auth-${r.word(16)}CNTRL-${r.word(32)}`),
  ...token('yandex api key', () => `AQVN${r.urlSafe(36)}`),
  ...token('tencent secret id', () => `AKID${r.word(32)}`),
  ...token('confluent secret', () => `cflt${r.base64(60)}`),
  ...placed(
    'azure storage key',
    () => `${r.base64(76)}+ASt${r.base64(6)}==`,
    (s) => `AccountName=acme;AccountKey=${s};EndpointSuffix=core.windows.net`,
    (s) => `The run went through with ${s} in the end.`,
  ),
  ...placed(
    'azure devops token',
    () => `${r.word(76)}AZDO${r.word(4)}`,
    (s) => `The run went through with ${s} in the end.`,
    (s) => `git clone https://build:${s}@dev.azure.com/acme/web/_git/web`,
  ),
  ...placed(
    'azure sas',
    () => `${r.word(40)}%2B${r.word(2)}%3D`,
    (s) => `https://acme.blob.core.windows.net/c?sp=r&st=2026-01-01T00:00:00Z&spr=https&sv=2024-11-04&sr=c&sig=${s}`,
  ),
  ...pemIn(
    'google service account',
    '\\n',
    (block) => `{"type":"service_account","private_key_id":"x","private_key":"${block}\\n","client_email":"a@b.test"}`,
  ),
  ...placed(
    'google private key id',
    () => r.hex(40),
    (s) => `{"type": "service_account", "project_id": "acme", "private_key_id": "${s}"}`,
  ),

  // Code, packages, building
  ...token('github classic', () => `ghp_${r.word(36)}`),
  ...token('github fine-grained', () => `github_pat_11${r.upper(20)}_${r.word(59)}`),
  ...token('gitlab routable token', () => `glpat-${r.urlSafe(27)}.01.${r.lower(9)}`),
  ...token('gitlab runner', () => `glrt-t1_${r.urlSafe(27)}.01.${r.lower(9)}`),
  ...token('bitbucket', () => `ATBB${r.word(24)}${r.from('0123456789ABCDEF', 8)}`),
  ...token('atlassian', () => `ATATT3xFfGF0${r.urlSafe(172)}=${r.from('0123456789ABCDEF', 8)}`),
  ...token('pypi', () => `pypi-AgEIcHlwaS5vcmc${r.urlSafe(140)}`),
  ...token('crates.io', () => `cio${r.word(32)}`),
  ...token('crates.io trusted publishing', () => `cio_tp_${r.word(31)}`),
  ...token('rubygems', () => `rubygems_${r.hex(48)}`),
  ...token('docker', () => `dckr_pat_${r.urlSafe(27)}`),
  ...token('docker organization', () => `dckr_oat_${r.urlSafe(32)}`),
  ...token('sourcegraph', () => `sgp_${r.hex(16)}_${r.hex(40)}`),
  ...token('open vsx', () => `ovsxp_${r.uuid()}`),
  ...token('snyk', () => `snyk_uat.${r.hex(8)}.${r.urlSafe(60)}`),
  ...token('jfrog reference token', () => `cmVmdGtuOjAxOj${r.word(50)}`),
  ...token('depot', () => `depot_org_${r.hex(64)}`),

  // Chat, mail, phone
  ...token('slack app', () => `xapp-1-A${r.upper(10)}-${r.digits(13)}-${r.hex(64)}`),
  ...token('slack rotated', () => `xoxe.xoxp-1-${r.word(163)}`),
  ...placed(
    'slack cookie',
    () => `xoxd-${r.word(20)}%2B${r.word(60)}%3D`,
    (s) => `curl -b "d=${s}" https://acme.slack.com/api/`,
  ),
  ...token('telegram bot', () => `${r.digits(10)}:AA${r.urlSafe(33)}`),
  ...placed(
    'discord bot',
    () => `MT${r.word(24)}.G${r.urlSafe(5)}.${r.urlSafe(38)}`,
    (s) => `DISCORD_TOKEN=${s}`,
    (s) => `client.login("${s}")`,
    (s) => `The run went through with ${s} in the end.`,
  ),
  ...token('twilio key', () => `SK${r.hex(32)}`),
  ...token('sendgrid', () => `SG.${r.urlSafe(22)}.${r.urlSafe(43)}`),
  ...token('mailgun', () => `${r.hex(32)}-${r.hex(8)}-${r.hex(8)}`),
  ...token('mailgun older', () => `key-${r.hex(32)}`),

  // Money
  ...token('stripe organization', () => `sk_org_live_${r.word(90)}`),
  ...token('stripe restricted', () => `rk_live_${r.word(99)}`),
  ...token('shopify', () => `shpat_${r.hex(32)}`),
  ...token('shopify user', () => `shpua_${r.hex(32)}`),
  ...token('square', () => `EAAA${r.urlSafe(60)}`),
  ...token('paddle', () => `pdl_live_apikey_01${r.lower(24)}_${r.word(22)}_${r.word(3)}`),
  ...token('polar', () => `polar_oat_${r.word(43)}`),
  ...token('mercury', () => `secret-token:mercury_production_wma_${r.word(44)}_yrucrem`),

  // Watching and working
  ...token('sentry', () => `sntrys_eyJ${r.base64(140)}=_${r.base64(43)}`),
  ...token('grafana', () => `glsa_${r.word(32)}_${r.hex(8)}`),
  ...token('new relic', () => `NRAK-${r.upper(27)}`),
  ...placed(
    'datadog',
    () => r.hex(32),
    (s) => `DD_API_KEY=${s} datadog-agent start`,
    (s) => `curl -H "DD-API-KEY: ${s}" https://api.datadoghq.com/api/v1/validate`,
    (s) => `"DD-APPLICATION-KEY": "${s}${'0'.repeat(8)}"`,
  ),
  ...placed(
    'okta',
    () => `00${r.urlSafe(40)}`,
    (s) => `curl -H "Authorization: SSWS ${s}" https://acme.okta.com/api/v1/users`,
    (s) => `OKTA_API_TOKEN=${s}`,
  ),
  ...token('posthog personal key', () => `phx_${r.word(43)}`),
  ...token('axiom', () => `xaat-${r.uuid()}`),
  ...token('logfire', () => `pylf_v1_us_${r.word(43)}`),
  ...token('linear', () => `lin_api_${r.word(40)}`),
  ...token('notion', () => `ntn_${r.digits(11)}${r.word(35)}`),
  ...token('figma', () => `figd_${r.urlSafe(40)}`),
  ...token('clickup', () => `pk_${r.digits(8)}_${r.upper(32)}`),
  ...token('segment', () => `sgp_${r.word(64)}`),
  ...token('vault service token', () => `hvs.CAES${r.urlSafe(90)}`),
  ...token('age key', () => `AGE-SECRET-KEY-1${r.from('QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L', 58)}`),
  ...token('age post-quantum key', () => `AGE-SECRET-KEY-PQ-1${r.from('QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L', 58)}`),
  ...token('google oauth secret', () => `GOCSPX-${r.urlSafe(28)}`),
  ...token('infisical', () => `st.${r.uuid()}.${r.hex(32)}.${r.hex(32)}`),
  ...token('bitwarden access token', () => `0.${r.uuid()}.${r.word(30)}:${r.base64(22)}==`),
  ...token('dropbox', () => `sl.u.${r.urlSafe(140)}`),

  // Keys over several lines, as they are quoted
  ...pemIn('pem with crlf', '\r\n', (block) => `$ type key.pem\r\n${block}\r\n`),
  ...pemIn('pem in json', '\\n', (block) => `{"key":"${block}"}`),
  ...pemIn('pem in json in json', '\\\\n', (block) => `{"body":"{\\"key\\":\\"${block}\\"}"}`),
  ...pemIn('pem with crlf in json', '\\r\\n', (block) => `{"key":"${block}"}`),
  ...pemIn('pem in a heredoc', '\n', (block) => `cat > key.pem <<'EOF'\n${block}\nEOF\nchmod 600 key.pem`),
  ...pemIn('pem in an indented heredoc', '\n\t', (block) => `\tcat <<-EOF\n\t${block}\n\tEOF`),
  ...pemIn('pem in yaml', '\n    ', (block) => `tls:\n  key: |\n    ${block}\nother: 1`),
  ...pemIn('pem as javascript strings', '\\n" +\n  "', (block) => `const key =\n  "${block}"`),
  ...pemIn('pem in a diff', '\n+', (block) => `@@ -0,0 +1,7 @@\n+${block}\n`),
  ...pemIn('pem on one line', ' ', (block) => `KEY="${block}"`),
]
