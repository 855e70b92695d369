import { isToken, longRun } from '../runs.ts'
import { passwordsIn } from './passwords.ts'
import { type Hit, hitsOf, type Recogniser, valuesOf } from './recogniser.ts'
import { marked } from './secret-prefixes.ts'

/** Minimum length of the tokens above. */
const minToken = 15

const pem = '-----BEGIN '
const bearer = /(?<=(?<![\w-])[Bb]earer )[A-Za-z0-9._~+/-]{20,}=*/g

/** `AWS_SECRET_ACCESS_KEY=…`, `"token": "…"`: a value with letters and digits after a name that marks it as secret. */
const named =
  /(?:secret|token|passw(?:or)?d|(?:api|access|private|account|shared|signing|master|encryption)[_-]?key)[\w-]{0,32}["'\s]{0,4}[:=]["'\s]{0,4}(?=[\w+/.~=-]{0,64}\d)(?=[\w+/.~=-]{0,64}[A-Za-z])([\w+/.~=-]{15,})/gi
const privateKey = /-----BEGIN (?:[A-Z]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g
const privateKeyEnd = /-----END (?:[A-Z]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g

/** API keys, tokens and private keys. */
export const secrets: Recogniser = {
  types: ['secret'],
  mayFind: () => true,
  find: ({ text }) => [...tokens(text), ...passwordsIn(text), ...(text.includes(pem) ? privateKeys(text) : [])],
}

/** Characters before a token that may say what it is. */
const maxLead = 80

/** Characters before a token that a prefix may have. */
const maxMark = 12

/** A token has a digit, a prefix with a hyphen, or one of the other prefixes. */
const mayBeMarked = /\d|^[A-Za-z]{2,10}[-_]|A[KSBC][IC]A|AIza|eyJ/

/** What ends the words before a token that they mark as secret. */
const leads = /(?:[:=]["'\s]{0,4}|earer )$/

/** Finds tokens, and the words before them; only long words are read by the patterns. */
const tokens = (text: string): readonly Hit[] => {
  const hits: Hit[] = []
  for (let run = longRun(text, isToken, { min: minToken, from: 0 }); run !== null; ) {
    const { start, end } = run
    const word = text.slice(start, end)
    if (mayBeMarked.test(word)) {
      const from = Math.max(0, start - maxMark)
      hits.push(...hitsOf(text.slice(from, end), marked, secret).map(moved(from)))
    }
    if (isLed(text, start, word)) {
      const from = Math.max(0, start - maxLead)
      const part = text.slice(from, end)
      hits.push(...[...hitsOf(part, bearer, secret), ...valuesOf(part, named)].map(moved(from)))
    }
    run = longRun(text, isToken, { min: minToken, from: end })
  }
  return hits
}

const secret = { type: 'secret' } as const

const moved =
  (by: number) =>
  ({ start, end, type }: Hit): Hit => ({ start: start + by, end: end + by, type })

/** Whether the words before a token, or its own beginning, may mark it as secret. */
const isLed = (text: string, start: number, word: string): boolean =>
  word.includes('=') || leads.test(text.slice(Math.max(0, start - 8), start))

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
