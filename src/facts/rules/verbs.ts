import { isVerb } from './lemmas.ts'
import type { Token } from './tokens.ts'

/** A predicate with its main verb first, as rule forms expect it. */
export interface Predicate {
  readonly tokens: readonly Token[]
  /** Whether it is negated, or said to have ended. */
  readonly negated: boolean
  /** Whether it held at an earlier time. */
  readonly past: boolean
  /** Whether it is planned, possible or hypothetical. */
  readonly unreal: boolean
}

const modals: ReadonlySet<string> = new Set(
  'would could might may should must shall if unless perhaps maybe wish almost nearly'.split(' '),
)

/** Past tenses of stative verbs, which imply that the state has ended. */
const lasting: ReadonlySet<string> = new Set('lived worked resided studied attended dated drove'.split(' '))

/**
 * Removes auxiliaries: "have been living" and "started to live" become "live", and "do not live any more" becomes
 * negated. Statements with "will" are only accepted with a date.
 */
export const predicateOf = (clause: readonly Token[], hasDate: boolean): Predicate => {
  const unreal = clause.slice(0, 4).some(({ low }) => modals.has(low)) || (!hasDate && isPlanned(clause))
  const isOver = clause[0]?.low === 'used' && clause[1]?.low === 'to'
  const longer = clause.findIndex(({ low }, at) => low === 'longer' && clause[at - 1]?.low === 'no')
  let tokens = longer < 0 ? clause : [...clause.slice(0, longer - 1), ...clause.slice(longer + 1)]
  let negated = longer >= 0 || isOver || stopped(tokens)
  if (stopped(tokens) || isOver) tokens = tokens.slice(isOver ? 2 : 1)
  const not = tokens.slice(0, 4).findIndex(({ low }) => low === 'not' || low === 'never')
  if (not >= 0 && tokens[not - 1]?.low !== 'can' && tokens[not + 1]?.low !== 'only') {
    negated = true
    tokens = tokens.filter((_, at) => at !== not)
  }
  const isPerfect = ['have', 'has'].includes(tokens[0]?.low ?? '')
  tokens = withoutAuxiliaries(tokens)
  const first = tokens[0]?.low ?? ''
  return { tokens, negated, unreal, past: !isPerfect && isPast(first, tokens[1]?.low ?? '') }
}

const isPast = (first: string, second: string): boolean =>
  lasting.has(first) || ((first === 'was' || first === 'were') && !events.has(second) && !second.endsWith('ed'))

/** Participles of events whose result still holds. */
const events: ReadonlySet<string> = new Set(['born', 'raised', 'laid', 'made', 'given', 'accepted', 'in', 'brought'])

const stopped = ([first, second]: readonly Token[]): boolean =>
  ['stop', 'quit'].includes(first?.lemma ?? '') && second?.low.endsWith('ing') === true

const isPlanned = ([first, second]: readonly Token[]): boolean =>
  first?.low === 'will' || (first?.lemma === 'be' && second?.low === 'going')

const withoutAuxiliaries = (clause: readonly Token[]): readonly Token[] => {
  let tokens = clause
  for (let rounds = 0; rounds < 6; rounds++) {
    const drop = droppable(tokens)
    if (drop === 0) return tokens
    tokens = tokens.slice(drop)
  }
  return tokens
}

/** Returns the number of leading words that are an auxiliary of a following verb. */
const droppable = ([first, second, third]: readonly Token[]): number => {
  if (first === undefined || second === undefined) return 0
  const lemma = first.lemma
  if (first.low === 'will' || first.low === 'can' || lemma === 'do') return isVerb(second.low) ? 1 : 0
  if (lemma === 'have' && second.low === 'got') return third !== undefined && ['a', 'an'].includes(third.low) ? 1 : 1
  if (lemma === 'have') return second.low === 'been' || (isVerb(second.low) && second.low !== 'to') ? 1 : 0
  if (lemma === 'be' && second.low === 'going' && third?.low === 'to') return 3
  if (lemma === 'be') return second.low.endsWith('ing') && isVerb(second.low) ? 1 : 0
  if (['start', 'begin'].includes(lemma) && second.low.endsWith('ing') && isVerb(second.low)) return 1
  if (
    ['start', 'begin', 'come', 'manage'].includes(lemma) &&
    second.low === 'to' &&
    third !== undefined &&
    isVerb(third.low)
  )
    return 2
  return ['end', 'ended', 'wound', 'keep', 'moved'].includes(first.low) && second.low === 'up' ? 2 : 0
}
