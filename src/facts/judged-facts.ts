import { type Exchange, exchangeFacts, ownWords } from './extraction.ts'
import { type Fact, user } from './fact.ts'
import type { Steps } from './facts-of.ts'
import { isOfTheMoment, ownText } from './own-text.ts'
import { quotesOther, sentencesOf } from './rules/tokens.ts'
import { hasClearSecret } from './screen/clear-secrets.ts'

/** What is read of an exchange without a model: facts by rules, and the sentences that the sentence model judges. */
export interface ReadExchange {
  readonly facts: readonly Fact[]
  readonly sentences: readonly string[]
}

/** Maximum number and characters of sentences that are judged. */
const [maxJudged, maxJudgedLength] = [64, 1_000]

/** Reads what the user says of their own life: neither quotations of other people nor what holds for a moment is judged. */
export function* readExchange(exchange: Exchange): Steps<ReadExchange> {
  const facts = yield* exchangeFacts(exchange)
  const sentences = new Set(facts.map(({ text: sentence }) => sentence))
  let before = ''
  for (const { text: sentence } of sentencesOf(ownText(ownWords(exchange).user).replaceAll(/[。！？]/gu, '$&\n'))) {
    yield
    const isJudged = sentence.length <= maxJudgedLength && !quotesOther(sentence) && !isOfTheMoment(sentence)
    // a sentence alone does not show that it has the secret which the one before it announces
    const isSecret = isJudged && hasClearSecret(`${before}\n${sentence}`)
    before = sentence.slice(-maxJudgedLength)
    if (isJudged && !isSecret && /\p{L}{2}|[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/u.test(sentence))
      sentences.add(sentence)
  }
  return { facts, sentences: [...sentences].slice(0, maxJudged) }
}

/** Logarithm of the odds below which a fact that rules found is dropped. */
const dropped = -1

/**
 * Returns the facts of an exchange as the sentence model judges its sentences: rules' facts, unless it finds it unlikely that they last, and
 * sentences in which it finds what lasts and the rules find nothing.
 *
 * @param odds logarithms of the odds that the first sentences state what lasts; none: the rules alone decide.
 */
export const judgedFacts = (
  { facts, sentences }: ReadExchange,
  odds: readonly number[],
  observedAt: number,
): readonly Fact[] => {
  const judged = new Map(odds.map((each, place) => [sentences[place] ?? '', each]))
  const read = facts.map(({ text: sentence }) => sentence)
  const found = [...judged].flatMap(([sentence, each]): readonly Fact[] =>
    each <= 0 || read.some((text) => text.includes(sentence))
      ? []
      : [
          {
            ...{ subject: user, relation: 'about', object: sentence, single: false, ended: false },
            ...{ validFrom: observedAt, validTo: null, observedAt, text: sentence },
          },
        ],
  )
  return [...facts.filter(({ text: sentence, ended }) => ended || (judged.get(sentence) ?? 0) > dropped), ...found]
}
