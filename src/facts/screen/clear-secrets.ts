import { isRead } from './read-values.ts'

/**
 * Words for secrets in the languages that are read, the words between them and their value (whose it is, and a verb or
 * sign), and the value.
 */
const secretPhrase =
  /(?<![\p{L}\p{N}])(?:(?<password>pass(?:word|code|phrase|wd)s?|pwd|passwort|kennwort|contraseña|mot de passe|palavra-passe|senha|parola d.ordine|wachtwoord|пароль|密码|口令|パスワード|كلمة (?:المرور|السر|مرور|سر)|पासवर्ड|비밀번호)|(?<code>pin(?: code| number|-code)?|cvv|cvc|security code|(?:three|3) digits on the back|(?:2fa|otp|backup|verification|door|alarm|access|entry) codes?|geheimzahl|tan|código (?:pin|de seguridad|secreto)|clave|code (?:secret|pin|de carte bleue|de carte)|código (?:de segurança|secreto)|codice (?:pin|segreto)|пин-?код|код|支付密码|验证码|暗証番号|الرقم السري|पिन)|(?<phrase>recovery (?:code|phrase|key)|seed phrase|social security number|ssn|private key|api[ -]?key|secret key|access token))(?:\s[^\s:=.!?]{1,40}){0,5}?,?\s{0,3}(?:(?<![\p{L}])(?:is|are|was|lautet|ist|es|est|c['’]est|é|è)(?![\p{L}])|(?<sign>=|:|：)|是|为|は|(?<![\p{L}])(?:هي|هو)|—|–)\s{0,3}["'“«„「]?(?<value>[^\s"'”»」،,，。]{3,80})/giu
const embeddedSecret =
  /(?<password>密码|口令|パスワード|كلمة (?:مرور|سر)[^\s]{0,12})(?:[^\n:：=是はهي]{0,24})(?:是|为|は|：|:|هي|=)\s{0,3}["「]?(?<value>[\x21-\x7e]{4,80})/gu

/** A password that follows its word directly, and could be no other word. */
const beside =
  /(?<![\p{L}\p{N}])(?:pass(?:word|code|phrase|wd)s?|pwd|passwort|kennwort|contraseña|mot de passe|palavra-passe|senha|parola d.ordine|wachtwoord|пароль|密码|口令|パスワード|كلمة (?:المرور|السر|مرور|سر)|पासवर्ड|비밀번호)\s(?<value>(?=[^\s]{0,40}\d)(?=[^\s]{0,40}\p{L})[^\s,;]{6,80})/iu
/** A user and a password in an address. */
const inAddress = /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:@/]{1,64}:(?!\[|<|\$|\*|password|pass@)[^\s@/]{4,128}@[\w-]/i

/** Words of a person's own, or of an account, which distinguish a real password from a figure of speech. */
const owned =
  /\b(?:my|our|the (?:wi-?fi|wifi|router|bank|account|login|admin|root|server|database|e-?mail|guest)|wi-?fi|login|mein\p{L}{0,2}|unser\p{L}{0,2}|mi|mon|ma|minha|meu|mio|mia)\b[^.!?]{0,40}$/iu

/** Words that follow "my password is" and are not passwords. */
const noSecrets: ReadonlySet<string> = new Set(
  'not too very wrong weak strong long short the a an in on at with under stored saved kept expired expiring forgotten lost required secret safe hard easy my same incorrect correct protected being changed set about missing unknown invalid case-sensitive needed always never still just so really now old new broken bent stuck loose gone'.split(
    ' ',
  ),
)

/** A word of mixed letters and digits that occurs in no natural language. */
const keyed = /(?<![\w-])(?=[\w-]{0,64}\d)(?=[\w-]{0,64}[a-z])(?=[\w-]{0,64}[A-Z])[A-Za-z0-9_-]{32,}(?![\w-])/
/** Subresource Integrity digests, with which pages identify the files they load; they are public. */
const digests = /(?<!\w)sha(?:256-[A-Za-z0-9+/]{43}=|384-[A-Za-z0-9+/]{64}|512-[A-Za-z0-9+/]{86}==)(?![\w+/=])/g
/** Digests in an `integrity` attribute, including truncated and mistyped ones, which are not secret either. */
const integrity = /\bintegrity\s?=\s?["']sha(?:256|384|512)-[A-Za-z0-9+/]{20,90}={0,2}["']/g
const privateKey = /-----BEGIN [A-Z ]{0,40}PRIVATE KEY/
const prefixed =
  /(?<![\w-])(?:sk|pk|rk|csk|cak|cpk|ect|whsec|ghp|gho|ghs|glpat|xox[abpr]|hf|npm|gsk)[-_][A-Za-z0-9_-]{12,}|(?<!\w)(?:AKIA|ASIA)[0-9A-Z]{16}(?!\w)|(?<![\w-])AIza[\w-]{35}|(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}/g

/** Placeholders such as "xoxb-your-slack-token": words of letters only, one of which marks it as a placeholder. */
const placeholder =
  /^[A-Za-z]{2,5}(?:[-_][A-Za-z]+)*[-_](?:your|YOUR|example|EXAMPLE|placeholder|PLACEHOLDER)(?:[-_][A-Za-z]+)*$/

const hasPrefixed = (text: string): boolean => [...text.matchAll(prefixed)].some(([found]) => !placeholder.test(found))

/** Whether a text contains a password, PIN, key or token in clear. */
export const hasClearSecret = (text: string): boolean => {
  if (
    privateKey.test(text) ||
    inAddress.test(text) ||
    beside.test(text) ||
    hasPrefixed(text) ||
    keyed.test(text.replace(digests, '').replace(integrity, ''))
  )
    return true
  for (const pattern of [secretPhrase, embeddedSecret])
    for (const { groups = {}, index } of text.matchAll(pattern)) if (isSecret(text, index, groups)) return true
  return false
}

/**
 * Whether a value after a word for a secret is one: a code has digits, a password has digits, signs or capitals within.
 * A plain word is one only where it is a person's own password, and the end of the statement.
 */
const isSecret = (text: string, index: number, groups: Readonly<Record<string, string | undefined>>): boolean => {
  if (isRead(text, index)) return false
  const value = (groups.value ?? '').replace(/[.,;:!?。]{1,8}$/u, '')
  const word = value.toLowerCase()
  if (value.startsWith('[') || value.length < 3 || noSecrets.has(word)) return false
  if (groups.code !== undefined) return /\d{3,}/.test(value)
  if (groups.phrase !== undefined || (groups.sign !== undefined && groups.password !== undefined)) return true
  if (/\p{N}/u.test(value) || /[\p{L}\p{N}][^\p{L}\p{N}\s'’-][\p{L}\p{N}]/u.test(value) || /\p{Ll}\p{Lu}/u.test(value))
    return true
  if (!/^[\p{Script=Latin}\p{Script=Cyrillic}-]{4,}$/u.test(value)) return false
  const rest = text.slice(index).split(value).slice(1).join(value)
  return owned.test(text.slice(Math.max(0, index - 60), index)) && /^["'”»」]?\s*(?:$|[.,;!?\n(])/u.test(rest)
}
