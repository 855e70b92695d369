import { lemmaOf } from './lemmas.ts'

/** A word, comma or colon of a sentence. */
export interface Token {
  readonly text: string
  readonly low: string
  readonly lemma: string
}

/** A sentence as tokens. */
export interface Sentence {
  readonly text: string
  readonly tokens: readonly Token[]
  readonly isQuestion: boolean
  /** Whether a question follows, which is not among the tokens: "I'm vegan, what can I eat?" */
  readonly leads: boolean
}

/** Maximum tokens per sentence; longer ones are rarely statements of facts, and are cut. */
const maxTokens = 80
/** Maximum number of words that are read for it: some have no token. */
const maxWords = 4 * maxTokens

/** Abbreviations after which a full stop does not end a sentence. */
const abbreviations: ReadonlySet<string> = new Set('dr mr mrs ms st prof jr sr e.g i.e vs no u.s u.k approx'.split(' '))

const opening = /^["'“”‘([{<*_#>-]+/
const closing = /(?<!["'“”’)\]}>*_])["'“”’)\]}>*_]{1,8}$/
const stops = '.!?…'

/** Splits a text into sentences. Line breaks end sentences, since lists are common. */
export function* sentencesOf(text: string): Generator<Sentence, void, void> {
  for (const line of text.split(/[\r\n]+/)) yield* sentencesOfLine(line)
}

function* sentencesOfLine(line: string): Generator<Sentence, void, void> {
  let words: string[] = []
  for (const word of line.split(/\s+/)) {
    if (word === '') continue
    words.push(word)
    const bare = word.replace(closing, '')
    const last = bare.at(-1) ?? ''
    if (last !== ';' && !(stops.includes(last) && !(last === '.' && isAbbreviation(bare)))) continue
    yield sentenceOf(words, last === '?')
    words = []
  }
  if (words.length > 0) yield sentenceOf(words, false)
}

/** Whether a sentence quotes what another person says in the first person, or is a part of such a quotation. */
export const quotesOther = (text: string): boolean => {
  const parts = text.split(/["“”«»]/)
  if (parts.length % 2 === 0) return true
  const inside = parts.filter((_, at) => at % 2 === 1).some((part) => /\b(?:i|my|we|our)\b/i.test(part))
  return inside && parts.some((part, at) => at % 2 === 0 && /\p{L}/u.test(part))
}

const interrogatives: ReadonlySet<string> = new Set(
  'what how which where who whom when why can could should would will shall is are am do does did has have any may if'.split(
    ' ',
  ),
)

const sentenceOf = (words: readonly string[], isQuestion: boolean): Sentence => {
  const [text, tokens] = [words.join(' '), tokensOf(words)]
  const lead = leadOf(tokens, isQuestion)
  const leads = lead < tokens.length
  return { text, tokens: leads ? tokens.slice(0, lead) : tokens, isQuestion: isQuestion && !leads, leads }
}

/** Returns the number of tokens before a question that a statement leads to; all of them if there is none. */
const leadOf = (tokens: readonly Token[], isQuestion: boolean): number => {
  const begins = isQuestion ? interrogatives : plainInterrogatives
  const at = tokens.findLastIndex(
    ({ low }, index) =>
      (low === ',' || (isQuestion && ['so', 'and'].includes(low))) && begins.has(tokens[index + 1]?.low ?? ''),
  )
  return at < minLead || interrogatives.has(tokens[0]?.low ?? '') ? tokens.length : at
}

const minLead = 3
/** Words with which a question begins that has no mark. */
const plainInterrogatives: ReadonlySet<string> = new Set('what how why can could should does did'.split(' '))

const isAbbreviation = (word: string): boolean => {
  const bare = word.slice(0, -1).replace(opening, '')
  return abbreviations.has(bare.toLowerCase()) || (/^\p{Lu}$/u.test(bare) && bare !== 'I')
}

/** Splits the words of one sentence into tokens. */
const tokensOf = (words: readonly string[]): readonly Token[] =>
  words.slice(0, maxWords).flatMap(piecesOf).slice(0, maxTokens).map(tokenOf)

const dashes: ReadonlySet<string> = new Set(['-', '–', '—', '--', '→', '->', '/', '|'])

const piecesOf = (word: string): readonly string[] => {
  if (dashes.has(word)) return [',']
  const bare = word.replaceAll('’', "'").replace(opening, '').replace(closing, '')
  const last = bare.at(-1) ?? ''
  const isInitial = last === '.' && isAbbreviation(bare)
  const cut = ',:;'.includes(last) || (stops.includes(last) && !isInitial)
  const inner = cut ? bare.slice(0, bare.length - trailing(bare)) : bare
  const expanded = inner.replace(closing, '')
  return [...(expanded === '' ? [] : contraction(expanded)), ...(last === ',' || last === ':' ? [last] : [])]
}

const trailing = (word: string): number => {
  let count = 0
  while (count < word.length && ',:;.!?…'.includes(word[word.length - 1 - count] ?? '')) count++
  return count
}

const endings: readonly (readonly [ending: string, word: string])[] = [
  ["'m", 'am'],
  ["'re", 'are'],
  ["'ve", 'have'],
  ["'ll", 'will'],
  ["'d", 'would'],
]

const spelledWithout: Readonly<Record<string, readonly string[]>> = {
  im: ['I', 'am'],
  ive: ['I', 'have'],
  dont: ['do', 'not'],
  doesnt: ['does', 'not'],
  cant: ['can', 'not'],
  cannot: ['can', 'not'],
  "can't": ['can', 'not'],
  "won't": ['will', 'not'],
  gonna: ['going', 'to'],
  wanna: ['want', 'to'],
}

/** Words after which `'s` is a verb; after others it is a possessive. */
const withIs: ReadonlySet<string> = new Set(
  'he she it that there here what who where name number address email favourite favorite everyone'.split(' '),
)

const contraction = (word: string): readonly string[] => {
  const low = word.toLowerCase()
  if (Object.hasOwn(spelledWithout, low)) return spelledWithout[low] ?? []
  if (!low.includes("'")) return [word]
  if (low.endsWith("n't")) return [word.slice(0, -3), 'not']
  for (const [ending, verb] of endings) if (low.endsWith(ending)) return [word.slice(0, -ending.length), verb]
  if (low.endsWith("'s")) return [word.slice(0, -2), withIs.has(low.slice(0, -2)) ? 'is' : "'s"]
  return low.endsWith("s'") ? [word.slice(0, -1), "'s"] : [word]
}

const tokenOf = (text: string): Token => {
  const low = text.toLowerCase()
  return { text, low, lemma: lemmaOf(low) }
}

/** Joins tokens to a text. */
export const textOfTokens = (tokens: readonly Token[]): string =>
  tokens
    .map(({ text }) => text)
    .join(' ')
    .replaceAll(' ,', ',')
    .replaceAll(" 's", '’s')
    .replaceAll(' :', ':')

/** Whether a word is written like a name or number. */
export const isProper = ({ text }: Token): boolean => /^[\p{Lu}\p{N}+@#]/u.test(text) && text !== 'I'
