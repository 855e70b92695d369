/** Files that hold secrets or the history of a person, as parts of paths. */
const secretPath =
  /(?:^|[\s"'=@(/~:,{])(?:\.ssh\/?(?:id_(?!\w+\.pub)\w{1,20}|config|identity|\*|\.|$)?|\.aws\/?(?:credentials|config|\*|$)?|\.kube(?:\/config)?|\.netrc|\.npmrc|\.pypirc|\.docker\/config\.json|\.gnupg|\.git-credentials|\.pgpass|\.my\.cnf|\.config\/(?:gcloud|gh\/hosts\.yml|op|solana|rclone|hub)|\.azure|\.vault-token|\.terraform\.d\/credentials\S{0,20}|\.password-store|\.bash_history|\.zsh_history|\.python_history|\.psql_history|\.electrum|\.bitcoin|\.ethereum|\.claude(?:\.json|\/\.credentials\.json)|\.codex\/auth\.json|\.cargo\/credentials\S{0,10}|\.m2\/settings\.xml|\.gem\/credentials|\.config\/github-copilot|\.local\/share\/keyrings)(?![\w-])/iu
const secretName =
  /(?:^|[\s"'=@(/~:,{])(?:\.env(?!\.(?:example|sample|template|dist|test))(?:\.[\w-]{1,20})?|\.envrc|id_(?:rsa|dsa|ecdsa|ed25519)|wallet\.dat|keystore(?:\.jks)?|logins\.json|key[34]\.db|cookies\.sqlite|login data|local state|login\.keychain(?:-db)?|credentials\.(?:json|csv|db)|client_secrets?\.json|service[-_]account[\w.-]{0,20}\.json|secrets?\.(?:ya?ml|json|env|toml)|passwords?\.(?:txt|csv|kdbx)|[\w.*-]{1,40}\.kdbx|[\w.*-]{1,40}\.(?:pem|p12|pfx|ppk)|authinfo\.gpg|kubeconfig)(?=$|[\s"',;:)}|&>\]*])/iu
const systemPath =
  /\/etc\/(?:shadow|gshadow|master\.passwd|sudoers|kubernetes\/admin\.conf|krb5\.keytab)\b|\/proc\/(?:self|\d{1,7}|\*)\/environ|\/var\/run\/secrets\/|\/run\/secrets\/|\/Library\/Keychains|Application Support\/(?:Google\/Chrome|Firefox|BraveSoftware)|\.config\/(?:google-chrome|chromium|BraveSoftware)|\.mozilla\/firefox|\.(?:exodus|metamask)|AppData\\(?:Local|Roaming)\\(?:Google|Microsoft\\(?:Credentials|Protect))/iu
const published =
  /\.pub\b|known_hosts|\.env\.(?:example|sample|template)|example\.pem|ca(?:cert|-bundle)?\.pem|cert(?:ificate)?s?\.pem|fullchain\.pem|chain\.pem|server\.pem/iu

/** Returns the file of secrets that a text names; undefined if it names none. */
export const secretPlaceIn = (text: string): string | undefined => {
  const found = (secretPath.exec(text) ?? secretName.exec(text) ?? systemPath.exec(text))?.[0]
  if (found === undefined) return undefined
  const at = text.indexOf(found)
  return published.test(/^\S{0,200}/u.exec(text.slice(at).trimStart())?.[0] ?? '')
    ? undefined
    : found.trim().replace(/^["'=@(:,{]/u, '')
}

const credentialName =
  /(?:^|_)(?:API_?KEYS?|APIKEY|TOKENS?|SECRETS?|PASSWORD|PASSWD|PASS|CREDENTIALS?|PRIVATE_?KEY|ACCESS_?KEY|SECRET_?ACCESS_?KEY|SECRET_?KEY|(?<!PUBLIC_)KEY|SESSION_?TOKEN|AUTH|PAT|DSN|MNEMONIC|SEED|DATABASE_URL|CONNECTION_STRING)(?:_ID|_B64|_JSON)?$/iu

/** Whether a variable of the environment holds a credential, by its name. */
export const isCredentialName = (name: string): boolean => credentialName.test(name)

/** Owners of credentials, by the beginning of the variable's name, with the hosts that may receive them. */
const owners: readonly (readonly [name: RegExp, hosts: RegExp])[] = [
  [/^AWS_/iu, /(?:^|\.)(?:amazonaws\.com(?:\.cn)?|aws\.amazon\.com|aws\.dev|awsapps\.com)$/iu],
  [
    /^(?:GH|GITHUB)_/iu,
    /(?:^|\.)(?:github\.com|githubusercontent\.com|ghcr\.io|githubcopilot\.com|azure\.com)$|github/iu,
  ],
  [/^(?:GL|GITLAB|CI_JOB)_/iu, /gitlab|(?:^|\.)git\./iu],
  [/^OPENAI_/iu, /(?:^|\.)(?:openai\.com|azure\.com|azure-api\.net)$/iu],
  [/^(?:ANTHROPIC|CLAUDE)_/iu, /(?:^|\.)(?:anthropic\.com|claude\.ai|claude\.com)$/iu],
  [/^(?:GOOGLE|GCP|GCLOUD|GEMINI)_/iu, /(?:^|\.)(?:googleapis\.com|google\.com|google\.dev)$/iu],
  [/^AZURE_/iu, /(?:^|\.)(?:azure\.com|azure\.net|microsoft\.com|microsoftonline\.com|windows\.net)$/iu],
  [/^STRIPE_/iu, /(?:^|\.)stripe\.com$/iu],
  [/^PAYPAL_/iu, /(?:^|\.)paypal\.com$/iu],
  [/^TWILIO_/iu, /(?:^|\.)twilio\.com$/iu],
  [/^SENDGRID_/iu, /(?:^|\.)sendgrid\.(?:com|net)$/iu],
  [/^SLACK_/iu, /(?:^|\.)slack\.com$/iu],
  [/^NOTION_/iu, /(?:^|\.)notion\.(?:com|so)$/iu],
  [/^(?:NPM|NODE_AUTH)_/iu, /(?:^|\.)(?:npmjs\.(?:org|com)|npm\.pkg\.github\.com)$/iu],
  [/^(?:PYPI|TWINE)_/iu, /(?:^|\.)pypi\.org$/iu],
  [/^(?:HF|HUGGING_?FACE)_/iu, /(?:^|\.)(?:huggingface\.co|hf\.co|hf\.space)$/iu],
  [/^(?:CLOUDFLARE|CF)_/iu, /(?:^|\.)(?:cloudflare\.com|workers\.dev)$/iu],
  [/^(?:DATABASE_URL|DB_PASS|PGPASS|POSTGRES_PASS|MYSQL_PWD|MONGO(?:DB)?_URI|REDIS_URL)/iu, /^$/u],
  [/^DOCKER_/iu, /(?:^|\.)docker\.(?:com|io)$/iu],
  [/^SSH_/iu, /^$/u],
]

/** Credentials of services that others speak like, so that a key in a header may well go elsewhere. */
const imitated = /^(?:OPENAI|ANTHROPIC|CLAUDE|GOOGLE|GEMINI|AWS|GH|GITHUB|AZURE)_/iu

/** Whether a credential, shown to be let in, goes to a host that is not of the service that it belongs to. */
export const isShownToStranger = (name: string, host: string): boolean =>
  !imitated.test(name) && host.includes('.') && isForeignTo(name, host)

/** Whether a credential's name says whose it is, and the host belongs to another one. */
export const isForeignTo = (name: string, host: string): boolean => {
  const owner = owners.find(([pattern]) => pattern.test(name))
  return owner !== undefined && !owner[1].test(host)
}
