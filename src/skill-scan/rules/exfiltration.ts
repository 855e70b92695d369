import { copiesElsewhere } from '../commands/addresses.ts'
import type { Rule } from '../finding.ts'

const rule = (
  [code, message]: readonly [code: string, message: string],
  pattern: RegExp,
  more: Partial<Rule> = {},
): Rule => ({
  ...{ code, severity: 'blocker', message, pattern, quotable: true },
  ...more,
})

const leaks = 'Data of the user is sent to somewhere else.'

/** Instructions and commands that exfiltrate user data. */
export const exfiltrationRules: readonly Rule[] = [
  rule(
    ['exfiltration', leaks],
    /(?:(?:\.ssh\/(?:id_\w{2,10}|config|\*)?|\.aws\/(?:credentials|config)|\.kube\/config|\.netrc|\.npmrc|\.pypirc|\.docker\/config\.json|\.gnupg|\.git-credentials|\.config\/gcloud|\.azure\/|\/etc\/(?:shadow|passwd)|wallet\.dat|keystore|login data|cookies\.sqlite|keychain|\.env(?:\.\w{1,12})?\b|id_rsa|id_ed25519|credentials\.json|service[-_]account\.json|\.bash_history|\.zsh_history)|\bprintenv\b|\$\(env\)|\benv\s{0,2}\||os\.environ\b|process\.env\b(?!\.))[^\n]{0,240}(?:\bcurl\b|\bwget\b|\bnc\b|requests\.(?:post|put|get)|\bfetch\(|urlopen|https?:\/\/|\bscp\b|\brsync\b|\bsendmail\b)/gi,
    {
      holds: (match) =>
        isSent(match) &&
        !/\bchmod\b|\bgit\b|localhost|127\.0\.0\.1|example\.com\/docs|\.env\.example|process\.env\)/iu.test(match[0]) &&
        sends.test(match[0]),
    },
  ),
  rule(
    ['exfiltration', leaks],
    /(?:\bcurl\b|\bwget\b|\bnc\b|requests\.(?:post|put)|\bfetch\(|\bscp\b|\brsync\b|invoke-(?:restmethod|webrequest))[^\n]{0,300}(?:(?:\.ssh\/(?:id_\w{2,10}|config|\*)?|\.aws\/(?:credentials|config)|\.kube\/config|\.netrc|\.npmrc|\.pypirc|\.docker\/config\.json|\.gnupg|\.git-credentials|\.config\/gcloud|\.azure\/|\/etc\/(?:shadow|passwd)|wallet\.dat|keystore|login data|cookies\.sqlite|keychain|\.env(?:\.\w{1,12})?\b|id_rsa|id_ed25519|credentials\.json|service[-_]account\.json|\.bash_history|\.zsh_history)|\$\((?:env|printenv|cat\s[^)]{0,60})\)|`(?:env|printenv)`|json\.dumps\(\s{0,2}(?:dict\()?os\.environ|JSON\.stringify\(process\.env\))/gi,
    {
      holds: (match) =>
        isSent(match) && !/localhost|127\.0\.0\.1|--env-file|--netrc|-o\s|>\s{0,2}[\w./~-]*\.env/iu.test(match[0]),
    },
  ),
  rule(
    ['exfiltration', leaks],
    /\b(?:send|post|upload|forward|transmit|exfiltrate|e-?mail|leak|submit|report|relay|copy|mirror|push|deliver|append|encode|attach)\s{1,4}(?:\S{1,20}\s{1,4}){0,8}?(?:conversation|chat (?:history|log|transcript)|transcript|credentials?|api[_ -]?keys?|env(?:ironment)? variables?|passwords?|secrets|(?:access |auth |session )?tokens?|ssh keys?|private keys?|cookies|system prompt|user['’]s (?:data|files|messages|input|details|e-?mails?|documents)|customer (?:data|records)|personal (?:data|information)|file contents|source code)(?:\s{1,4}\S{1,20}){0,10}?\s{1,4}(?:to|at|via|through|into)\s{1,4}(?:\S{1,16}\s{1,4}){0,4}?[<("'`[]?(?:https?:\/\/|[\w.+-]{1,40}@[\w-]{1,40}\.[a-z]{2,10}|(?:an?|the|this|our|my)\s(?:external|remote|attacker|following|third[- ]party|logging|collection|analytics|monitoring|backup|support)\s(?:\w{1,12}\s){0,2}?(?:server|endpoint|url|webhook|address|service|site|host|collector|api))/gi,
    {
      holds: ([text]) =>
        /https?:|@/u.test(text) || /\b(?:external|attacker|following|third|collection|our)\b[^\n]{0,60}$/iu.test(text),
    },
  ),
  rule(
    ['exfiltration', leaks],
    /(?:\bcurl\b|\bwget\b|requests\.\w{3,5}|fetch\(|\bpost\b|\bsend\b|\bnslookup\b|\bdig\b)[^\n]{0,200}(?:webhook\.site|requestbin\.\w{2,6}|pipedream\.net|ngrok(?:-free)?\.(?:io|app|dev)|interact\.sh|oast\.\w{2,6}|burpcollaborator\.net|canarytokens\.\w{2,6}|beeceptor\.com|hookbin\.com|postb\.in|dnslog\.cn|transfer\.sh|file\.io|0x0\.st|discord(?:app)?\.com\/api\/webhooks|api\.telegram\.org\/bot|pastebin\.com\/(?:raw|api)|trycloudflare\.com|serveo\.net|localtunnel\.me)/gi,
    { holds: (match) => !isOwnBot(match) },
  ),
  rule(
    ['collector_link', 'The address belongs to a service that collects requests.'],
    /(?:webhook\.site|requestbin\.\w{2,6}|pipedream\.net|ngrok(?:-free)?\.(?:io|app|dev)|interact\.sh|oast\.\w{2,6}|burpcollaborator\.net|canarytokens\.\w{2,6}|beeceptor\.com|hookbin\.com|postb\.in|dnslog\.cn|transfer\.sh|file\.io|0x0\.st|discord(?:app)?\.com\/api\/webhooks|api\.telegram\.org\/bot|pastebin\.com\/(?:raw|api)|trycloudflare\.com|serveo\.net|localtunnel\.me)/gi,
    {
      severity: 'warning',
    },
  ),
  rule(
    ['exfiltration', 'Data is carried away in names that are looked up.'],
    /\b(?:nslookup|dig|host|ping(?:\s{1,4}-c\s{0,2}\d)?)\s{1,4}["']?(?:\$\(|`|\$\{?\w{1,40}\}?\.)[^\n]{0,160}\.[a-z]{2,12}/gi,
  ),
  rule(
    ['exfiltrating_link', 'An address carries what a conversation holds to another host.'],
    /!\[[^\]\n]{0,200}\]\(\s{0,2}<?https?:\/\/[^\s)\n]{1,300}(?:\{\{?|\$\{|<|%7B|\[)[^)\n]{0,40}(?:conversation|history|context|message|prompt|secret|token|password|credential|api_?key|user|data|content|summary|input|response|answer|name|email|env)/gi,
  ),
  rule(
    ['exfiltrating_link', 'An address carries what a conversation holds to another host.'],
    /<(?:img|iframe|script|link|object|embed|video|audio|source|form)\b[^>\n]{0,200}\b(?:src|href|data|action)\s{0,2}=\s{0,2}["']?https?:\/\/[^\s"'>\n]{1,300}(?:\{\{?|\$\{|%7B|\[)[^>\n]{0,40}(?:conversation|history|context|message|prompt|secret|token|password|credential|api_?key|user|data|content|summary|input|response|email|env)/gi,
  ),
  rule(
    ['exfiltrating_link', 'A model is instructed to put data into an address.'],
    /\b(?:append|add|include|insert|encode|put|embed|place|substitute|replace|fill in|url-?encode|base64-?encode)\s{1,4}(?:\S{1,20}\s{1,4}){0,10}?(?:conversation|messages?|chat|secrets?|tokens?|passwords?|credentials?|api[_ ]?keys?|answers?|summary|user['’]s|contents?|data|history|context)\s{1,4}(?:\S{1,20}\s{1,4}){0,10}?(?:to|in|into|as|of|onto|after|at the end of)\s{1,4}(?:\S{1,20}\s{1,4}){0,6}?(?:url|link|image|query(?: string| parameter)?|markdown image|img|tracking pixel|path)s?\b/gi,
    {
      holds: (match) =>
        /image|pixel|\bimg\b|tracking|secret|token|password|credential|conversation|history|messages|chat|key/iu.test(
          match[0],
        ),
    },
  ),
  rule(
    ['deceptive_link', 'The address shows one host and leads to another.'],
    /https?:\/\/[\w.-]{3,80}\.[a-z]{2,10}(?::[^\s@/]{0,40})?@[\w.-]{3,80}/gi,
    {
      quotable: false,
      holds: (match) => !/:\/\/(?:user(?:name)?|git|token|oauth2|x-access-token|[A-Z_]{3,})(?::|@)/u.test(match[0]),
    },
  ),
  rule(
    ['deceptive_link', 'The name of the host imitates another one.'],
    /https?:\/\/(?:[\w-]{1,60}\.){0,5}xn--[\w-]{1,60}/gi,
    { severity: 'warning' },
  ),
  rule(
    ['address_literal', 'The address names a machine by number.'],
    /https?:\/\/(?!127\.|0\.0\.0\.0|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|169\.254\.169\.254)\d{1,3}(?:\.\d{1,3}){3}(?=[:/\s"'`)]|$)/gim,
    { severity: 'warning' },
  ),
  rule(
    ['metadata_service', 'The address is that of the credentials of a cloud machine.'],
    /(?:169\.254\.169\.254|metadata\.google\.internal)\/(?:latest|computeMetadata|metadata)[\w/.-]{0,80}?(?:\/iam\b|security-credentials|service-accounts|identity|user-data)/gi,
  ),
  rule(
    ['metadata_service', 'The address is that of what a cloud machine knows of itself.'],
    /169\.254\.169\.254\/(?:latest|computeMetadata|metadata)|metadata\.google\.internal\/computeMetadata/gi,
    { severity: 'warning' },
  ),
  rule(
    ['reads_secrets', 'A file that holds secrets is read.'],
    /\b(?:cat|type|less|head|tail|cp|read|open|load|grep|get-content|readFileSync|read_text)\b[^\n]{0,60}(?:\.ssh\/id_|\.aws\/credentials|\.netrc|\.git-credentials|\/etc\/shadow|wallet\.dat|login data|cookies\.sqlite|id_rsa\b|id_ed25519\b)/gi,
    { severity: 'warning' },
  ),
  rule(
    ['reads_secrets', 'Stored passwords are read.'],
    /\bsecurity\s{1,4}(?:find-generic-password|find-internet-password|dump-keychain)\b|\bmimikatz\b|\bsecretsdump\b|\blazagne\b|sekurlsa::/gi,
  ),
  rule(
    ['asks_for_secrets', 'A model is instructed to ask a person for a secret.'],
    /\b(?:ask|prompt|request|tell|require)\s{1,4}(?:the\s{1,4})?(?:user|person|human|customer)s?\s{1,4}(?:\w{1,12}\s{1,4}){0,6}?(?:password|credit card|card number|cvv|social security|seed phrase|recovery phrase|mnemonic|private key|2fa code|one-time code|otp)\b/gi,
    { severity: 'warning' },
  ),
  rule(
    ['asks_for_secrets', 'A model is instructed to collect keys of wallets.'],
    /\b(?:enter|provide|paste|share|collect|give|send)\s{1,4}(?:\w{1,12}\s{1,4}){0,6}?(?:seed phrase|recovery phrase|mnemonic phrase|wallet(?:['’]s)? private key)\b/gi,
    { holds: ({ index = 0, input = '' }) => !told.test(input.slice(Math.max(0, index - 80), index)) },
  ),
]

/** Whether what is sent goes to somebody: copies over SSH go where their line says, which may be a machine of the user. */
const isSent = ({ 0: text, index = 0, input = '' }: RegExpMatchArray): boolean => {
  const others = text.replaceAll(/\b(?:scp|rsync)\b/giu, ' ')
  if (
    others === text ||
    /\bcurl\b|\bwget\b|\bnc\b|requests\.|\bfetch\(|urlopen|https?:\/\/|\bsendmail\b/iu.test(others)
  )
    return true
  const end = input.indexOf('\n', index + text.length)
  return copiesElsewhere(input.slice(index, Math.min(end < 0 ? input.length : end, index + text.length + 300)))
}

/** Somebody of whom a text says that they ask for something. */
const told = /\b(?:asks|asked|asking|tells|told|wants|demands|urges|tries)\b[^.\n]{0,60}$/iu

/** Whether a message goes to a bot whose token is a variable or a blank, which the user has, without a file; or nothing is sent. */
const isOwnBot = ({ 0: text, index = 0, input = '' }: RegExpMatchArray): boolean => {
  const line = /^[^\n]{0,300}/u.exec(input.slice(index + text.length))?.[0] ?? ''
  if (!/api\.telegram\.org\/bot$/iu.test(text)) return false
  return /^[^/\s]{1,100}\/getMe\b/u.test(line) || (/^[$<{]/u.test(line) && !/@|\$\(|`/u.test(text + line))
}

/** Whether a line actually sends data, and does not just contain a file name and a URL. */
const sends =
  /\bcurl\b|\bwget\b|\bnc\b|requests\.|\bfetch\(|urlopen|\bscp\b|\brsync\b|\bsendmail\b|\b(?:send|post|upload|forward|exfiltrat|transmit|e-?mail)/iu
