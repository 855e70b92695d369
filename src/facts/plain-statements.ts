import { type Fact, user } from './fact.ts'
import type { Steps } from './facts-of.ts'
import { lastingOf } from './rules/lasting.ts'
import { scheduleOf } from './rules/schedules.ts'
import { isShown } from './rules/statements.ts'
import { quotesOther, sentencesOf, type Token, textOfTokens } from './rules/tokens.ts'

/** Adverbs between "I" and the verb. */
const adverbs: ReadonlySet<string> = new Set(
  'also always usually often never still really mostly mainly sometimes normally generally just only now currently'.split(
    ' ',
  ),
)

/** Words before a statement that add nothing to it. */
const openings: ReadonlySet<string> = new Set(
  'and but so also oh well yes yeah btw ok okay fyi hi hello hey ,'.split(' '),
)

/** Verbs that do not state what lasts: auxiliaries, thoughts and requests of the moment, and irregular past tenses. */
const passing: ReadonlySet<string> = new Set(
  'am was were be been is are have had has do did does will would can could may might must should shall need want wonder think thought guess hope hoped see saw look try tried ask asked mean meant understand know knew forget forgot feel felt tell told believe wish plan said say heard hear got get went came made took gave found bought left lost met ran let came brought sent wrote read put cut began kept held stood understood agree disagree suppose remember appreciate thank apologise apologize shut hit hurt quit leave'.split(
    ' ',
  ),
)

const [minWords, maxWords] = [2, 40]

/**
 * Returns statements of habit and of schedule about the user for which there is no pattern: "I keep bees in the garden",
 * "On Tuesdays I have piano lessons". Only sentences in the present tense are read; those of habit begin with "I" or "we".
 */
export function* plainStatements(text: string, observedAt: number): Steps<readonly Fact[]> {
  const facts: Fact[] = []
  const times = { validFrom: observedAt, validTo: null, observedAt }
  for (const { tokens, isQuestion, leads, text: sentence } of sentencesOf(text)) {
    yield
    const found =
      isQuestion || quotesOther(sentence)
        ? null
        : ((leads ? null : scheduleOf(tokens)) ?? lastingOf(tokens) ?? (leads ? null : habitOf(tokens)))
    if (found !== null) facts.push({ subject: user, ...found, single: false, ended: false, ...times, text: sentence })
  }
  return facts
}

const habitOf = (tokens: readonly Token[]): Pick<Fact, 'relation' | 'object'> | null => {
  const start = tokens.findIndex(({ low }) => !openings.has(low))
  const [first, ...rest] = tokens.slice(Math.max(0, start))
  if (first === undefined || (first.low !== 'i' && first.low !== 'we')) return null
  const at = rest.findIndex(({ low }) => !adverbs.has(low))
  const verb = rest[at]
  if (verb === undefined || !isHabitual(verb)) return null
  const object = rest.slice(at + 1)
  if (object.length < minWords - 1 || object.length > maxWords || object.some(({ low }) => low === 'not')) return null
  if (isShown(textOfTokens(object))) return null
  return { relation: verb.low.replace(/[^\p{L}]+/gu, '_'), object: textOfTokens(object) }
}

const isHabitual = ({ low }: Token): boolean =>
  /^[a-z]{2,20}$/.test(low) && !passing.has(low) && !/(?:ed|ing)$/.test(low)
