import { isVerb } from './lemmas.ts'
import { isProper, type Token } from './tokens.ts'

const connectors: ReadonlySet<string> = new Set([
  ',',
  'and',
  'but',
  'so',
  'because',
  'while',
  'where',
  'although',
  'though',
  'which',
  'who',
])
/** Those that never stand between items of a list. */
const explaining: ReadonlySet<string> = new Set(['but', 'so', 'because', 'although', 'though'])
const pronouns: ReadonlySet<string> = new Set(['i', 'we', 'he', 'she', 'they', 'my', 'our', 'his', 'her', 'it'])
const greetings: ReadonlySet<string> = new Set(
  'hi hello hey well oh ok okay yes yeah no nope sure btw fyi also so and but however anyway update correction actually finally news please note remember then now thanks sorry hmm wow great'.split(
    ' ',
  ),
)

/** Verbs of saying and thinking; the statement proper is after "that". */
const saying: ReadonlySet<string> = new Set(
  'say said mention know note remember note forget remind fact inform think believe share announce'.split(' '),
)

/** Words that do not change the meaning of a statement. */
const fillers: ReadonlySet<string> = new Set(
  'now currently just actually recently finally also still really officially nowadays presently already newly permanently temporarily mostly mainly primarily usually absolutely totally simply truly very quite happily lately again definitely certainly basically literally proudly super always mainly exclusively strictly absolutely completely extremely instead'.split(
    ' ',
  ),
)

const phrases: readonly (readonly string[])[] = [
  'at the moment',
  'these days',
  'at present',
  'right now',
  'as of now',
  'for now',
  'by the way',
  'for the record',
  'just so you know',
  'as you know',
  'in fact',
  'of course',
  'to be honest',
  'guess what',
  'good news',
  'big news',
  'from now on',
  'once again',
  'with my family',
  'with my partner',
  'first thing',
  'most of all',
  'a lot',
  'very much',
  'so much',
  'as well',
  'i think',
  'i guess',
  'i believe',
  'i suppose',
  'that said',
  'in case you need it',
  'in my life',
].map((phrase) => phrase.split(' '))

const phrasesFrom = Map.groupBy(phrases, ([first]) => first ?? '')

/**
 * Splits a sentence into statements: where another subject begins, or another verb of the same subject, which is then
 * repeated.
 */
export const clausesOf = (sentence: readonly Token[]): readonly (readonly Token[])[] => {
  const clauses: Token[][] = []
  let open: Token[] = []
  const tokens = withoutFillers(sentence)
  for (const [at, token] of tokens.entries()) {
    const next = tokens[at + 1]
    const isBorder =
      dividesBehind(token, open.at(-1)) &&
      !isOneVerb(open.at(-1), next) &&
      next !== undefined &&
      open.length > 1 &&
      (explaining.has(token.low) || begins(tokens.slice(at + 1)))
    if (!isBorder) {
      open.push(token)
      continue
    }
    clauses.push(open)
    open = isFiniteVerb(next) ? subjectOf(open) : []
  }
  if (open.length > 0) clauses.push(open)
  return clauses.map(withoutOpening)
}

/** Whether a token separates clauses. "Where I live" is an object; ", where I live" is a separate clause. */
const dividesBehind = ({ low }: Token, before: Token | undefined): boolean =>
  connectors.has(low) && !(['where', 'which', 'who'].includes(low) && before?.low !== ',')

/** "born and raised" is one predicate. */
const isOneVerb = (before: Token | undefined, next: Token | undefined): boolean =>
  before?.low === 'born' && next?.low === 'raised'

/** Whether a new statement begins: with another subject, or with a finite verb, as opposed to an item of a list. */
const begins = (rest: readonly Token[]): boolean => {
  const [first, second] = rest
  if (first === undefined) return false
  if (connectors.has(first.low)) return second !== undefined && begins(rest.slice(1))
  return pronouns.has(first.low) || isFiniteVerb(first)
}

const isFiniteVerb = ({ low }: Token): boolean =>
  isVerb(low) &&
  !low.endsWith('ing') &&
  !['name', 'cook', 'plan', 'train', 'trade', 'practice', 'play', 'start'].includes(low)

/** Returns the words before the first verb. */
const subjectOf = (clause: readonly Token[]): Token[] => {
  const verb = clause.findIndex(({ low }) => isVerb(low))
  const subject = withoutOpening(clause.slice(0, Math.max(verb, 0)))
  return subject.length > 0 && subject.length <= 6 ? [...subject] : []
}

const withoutFillers = (tokens: readonly Token[]): readonly Token[] => {
  const kept: Token[] = []
  for (let at = 0; at < tokens.length; ) {
    const token = tokens[at]
    const beginning = phrasesFrom.get(token?.low ?? '')
    const phrase = beginning?.find((words) => words.every((word, index) => tokens[at + index]?.low === word))
    if (phrase !== undefined) at += phrase.length
    else {
      if (token !== undefined && !(fillers.has(token.low) && token.text === token.low)) kept.push(token)
      at++
    }
  }
  return kept
}

/** Removes greetings, "I wanted to say that" and commas from the start of a clause. */
const withoutOpening = (clause: readonly Token[]): readonly Token[] => {
  const that = clause.findIndex(({ low }) => low === 'that')
  const isReported =
    that > 0 && that < 12 && clause.slice(0, that).some(({ low, lemma }) => saying.has(low) || saying.has(lemma))
  let rest = isReported ? clause.slice(that + 1) : clause
  while (rest.length > 1) {
    const first = rest[0]
    if (first === undefined) break
    const isLoose = first.low === ',' || first.low === ':' || greetings.has(first.low) || fillers.has(first.low)
    if (!isLoose) break
    rest = rest.slice(1)
  }
  return rest
}

/** Words that begin sentences and are not names. */
const noNames: ReadonlySet<string> = new Set(
  'you your please this that these those there here what when where why how who which if as at in on for from with by to of the a an is are was were be do does did have has had will would can could should may might must not no yes never everyone everybody nobody people some many most all both each every last next today yesterday tomorrow after before since until while because although though once being having living working moving just only even maybe perhaps call answer reply respond speak write use let thanks thank happy glad good great nice sorry user assistant'.split(
    ' ',
  ),
)

/** Returns the number of words at the start that form one name; 0 when it is not a name. */
export const nameLength = (tokens: readonly Token[]): number => {
  let length = 0
  while (length < 6) {
    const token = tokens[length]
    if (token === undefined) break
    const joins = length > 0 && ['of', 'the', 'de', 'van', 'von', 'der', 'la', '&'].includes(token.low)
    if (!isProper(token) && !(joins && nameBehind(tokens, length))) break
    if (length === 0 && (pronouns.has(token.low) || noNames.has(token.low))) return 0
    length++
  }
  return length
}

const nameBehind = (tokens: readonly Token[], at: number): boolean => {
  const next = tokens[at + 1]
  return next !== undefined && isProper(next)
}
