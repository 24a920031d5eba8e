/** Files whose purpose is to hold a secret. Such a file is captured only if the user's own index has it. */
const NAMES = [
  /^\.env(?:\..*)?$/i,
  /^\.envrc$/i,
  /\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk|asc|gpg|tfstate|tfvars)$/i,
  /^id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$/i,
  /^\.(?:netrc|pgpass|htpasswd|pypirc|npmrc|git-credentials|dockercfg|my\.cnf)$/i,
  /^(?:credentials|secrets?|service[-_]account.*|client_secret.*)\.(?:json|ya?ml|toml|ini|txt)$/i,
  /^(?:credentials|secrets?)$/i,
]
const HARMLESS = /^\.env\.(?:example|sample|template|dist|defaults?)$|\.pub$/i
const DIRECTORIES = /(?:^|\/)\.(?:ssh|gnupg|aws|azure|kube|docker|password-store)\//i

/** Whether a path names a secret. */
export function isSecretPath(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1)
  if (HARMLESS.test(name)) return false
  return DIRECTORIES.test(path) || NAMES.some((pattern) => pattern.test(name))
}
