import { isRead } from './read-values.ts'

/** Words for secrets, followed by a value. */
const said =
  /(?<![\p{L}\p{N}])(?:pass(?:word|code|phrase|wd)s?|pwd|pin(?: code| number)?|cvv|cvc|security code|recovery (?:code|phrase|key)|seed phrase|(?:2fa|otp|backup|verification) codes?|social security number|ssn)(?:\s(?:for|to|of|on)\s[^\s:=]{1,40}(?:\s[^\s:=]{1,40}){0,3})?\s{0,3}(?:\bis\b|\bwas\b|=|:)\s{0,3}["'“]?(?<value>[^\s"'”]{3,})/giu

/** Words that follow "my password is" and are not passwords. */
const noSecrets: ReadonlySet<string> = new Set(
  'not too very wrong weak strong long short the a an in on stored saved kept expired expiring forgotten lost required secret safe hard easy my same incorrect correct protected being changed set about missing unknown invalid case-sensitive needed'.split(
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
  if (privateKey.test(text) || hasPrefixed(text) || keyed.test(text.replace(digests, '').replace(integrity, '')))
    return true
  for (const { groups, index } of text.matchAll(said)) {
    if (isRead(text, index)) continue
    const value = (groups?.value ?? '').replace(/[.,;:!?]{1,8}$/, '')
    if (!noSecrets.has(value.toLowerCase()) && !value.startsWith('[')) return true
  }
  return false
}
