import { isToken, longRun } from '../runs.ts'
import { type Hit, hitsOf, type Recogniser } from './recogniser.ts'

/** API keys with a provider-specific prefix. The minimum lengths exclude text that merely mentions a prefix. */
const marked = [
  'sk-[\\w-]{20,}',
  '[sr]k_(?:live|test)_[A-Za-z0-9]{16,}',
  '(?:csk|cak|cpk|ect|whsec)_[\\w.+/=-]{16,}',
  'gh[pousr]_[A-Za-z0-9]{30,}',
  'github_pat_\\w{22,}',
  'gl(?:pat|dt|rt|cbt)-[\\w-]{20,}',
  '(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?!\\w)',
  'AIza[\\w-]{35}',
  'ya29\\.[\\w-]{20,}',
  'GOCSPX-[\\w-]{20,}',
  'xox[abeprs]-[\\w-]{10,}',
  'xapp-\\d-[\\w-]{10,}',
  'npm_[A-Za-z0-9]{30,}',
  'pypi-[\\w-]{32,}',
  'hf_[A-Za-z0-9]{30,}',
  'gsk_[A-Za-z0-9]{30,}',
  'xai-[A-Za-z0-9]{30,}',
  'pplx-[A-Za-z0-9]{30,}',
  'r8_[A-Za-z0-9]{30,}',
  'dop_v1_[a-f0-9]{40,}',
  'shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}',
  'SG\\.[\\w-]{16,}\\.[\\w-]{16,}',
  'sq0(?:atp|csp)-[\\w-]{22,}',
  'AC[a-f0-9]{32}(?!\\w)',
  'eyJ[\\w-]{8,}\\.[\\w-]{8,}(?:\\.[\\w-]*)?',
]

/** Matches only at the start of a word, so that each run of characters is read once. */
const keys = new RegExp(`(?<![\\w-])(?:${marked.join('|')})`, 'g')
const beginnings =
  /sk-|[sr]k_|csk_|cak_|cpk_|ect_|whsec_|gh[pousr]_|github_pat_|gl(?:pat|dt|rt|cbt)-|A[KSBC][IC]A|AIza|ya29\.|GOCSPX-|xox[abeprs]-|xapp-|npm_|pypi-|hf_|gsk_|xai-|pplx-|r8_|dop_v1_|shp|SG\.|sq0|AC[a-f0-9]{8}|eyJ|earer |[Ss]ecret|SECRET|[Tt]oken|TOKEN|[Pp]assw|PASSW|[Kk]ey|KEY/

/** Minimum length of the tokens above. */
const minToken = 15

const pem = '-----BEGIN '
const bearer = /(?<=(?<![\w-])[Bb]earer )[A-Za-z0-9._~+/-]{20,}=*/g

/** `AWS_SECRET_ACCESS_KEY=…`, `"token": "…"`: a value with letters and digits after a name that marks it as secret. */
const named =
  /(?:secret|token|passw(?:or)?d|(?:api|access|private)[_-]?key)[\w-]{0,32}["'\s]{0,4}[:=]["'\s]{0,4}(?=[\w+/.~=-]{0,64}\d)(?=[\w+/.~=-]{0,64}[A-Za-z])([\w+/.~=-]{15,})/gi
const passwords = /(?<![\p{L}\p{N}])(?:password|passwd|pwd)=([^\s"'&;,<>]{4,256})/giu
const privateKey = /-----BEGIN (?:[A-Z]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g
const privateKeyEnd = /-----END (?:[A-Z]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g

/** API keys, tokens and private keys. */
export const secrets: Recogniser = {
  types: ['secret'],
  mayFind: (text) =>
    (longRun(text, isToken, { min: minToken, from: 0 }) !== null && beginnings.test(text)) ||
    text.includes(pem) ||
    assigned(text),
  find: ({ text }) => [
    ...hitsOf(text, keys, { type: 'secret' }),
    ...hitsOf(text, bearer, { type: 'secret' }),
    ...valuesOf(text, named),
    ...(assigned(text) ? valuesOf(text, passwords) : []),
    ...(text.includes(pem) ? privateKeys(text) : []),
  ],
}

const assigned = (text: string): boolean =>
  text.includes('=') &&
  (text.includes('assw') || text.includes('PASSW') || text.includes('pwd=') || text.includes('PWD='))

/** Returns the captured group at the end of each match. */
const valuesOf = (text: string, pattern: RegExp): readonly Hit[] =>
  Array.from(text.matchAll(pattern), ({ 0: match, 1: value = '', index }) => {
    const end = index + match.length
    return { start: end - value.length, end, type: 'secret' }
  })

/** Finds private keys from their BEGIN line to their END line, or to the end of a truncated text. */
const privateKeys = (text: string): readonly Hit[] => {
  const hits: Hit[] = []
  for (let from = 0; ; ) {
    privateKey.lastIndex = from
    const head = privateKey.exec(text)
    if (head === null) return hits
    privateKeyEnd.lastIndex = head.index
    const tail = privateKeyEnd.exec(text)
    const end = tail === null ? text.length : tail.index + tail[0].length
    hits.push({ start: head.index, end, type: 'secret' })
    from = end
  }
}
