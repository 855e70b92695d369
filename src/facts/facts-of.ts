import { type Fact, user } from './fact.ts'
import { changed, equated, inverted, ownedNoun } from './rules/attribute-statements.ts'
import { attributeOf, isBeing } from './rules/attributes.ts'
import { clausesOf, nameLength } from './rules/clauses.ts'
import { contactsIn } from './rules/contacts.ts'
import { linked } from './rules/links.ts'
import { isKnown, type Statement, statementsOf } from './rules/statements.ts'
import { takeTimes } from './rules/times.ts'
import { quotesOther, sentencesOf, type Token, textOfTokens } from './rules/tokens.ts'
import { predicateOf } from './rules/verbs.ts'

/** Context of a text: its time and speaker. */
export interface TextContext {
  /** Time of the text, in ms since the epoch; relative dates are resolved against it. */
  readonly observedAt: number
  /** In the assistant's text "you" is the user, and statements about the assistant itself are ignored. */
  readonly speaker: 'user' | 'assistant'
}

/** Maximum characters of a text that are read. */
const maxText = 32_768

/** Maximum number of facts per text. */
const maxFacts = 200

/** Long work in steps: others may run where it yields, after each sentence. */
export type Steps<T> = Generator<void, T, void>

/**
 * Extracts facts from English text by rules. The rules read plain statements about people ("I moved to Oslo last week,
 * and my sister Anna works at Acme"). They do not read irony, stories, or what only follows from several sentences.
 * Questions, plans without a date and mere possibilities are not facts.
 */
export function* factsOf(text: string, context: TextContext): Steps<readonly Fact[]> {
  const reader = new Reader(context)
  for (const { tokens, isQuestion, leads, text: sentence } of sentencesOf(text.slice(0, maxText))) {
    yield
    if (isQuestion || quotesOther(sentence)) continue
    for (const clause of clausesOf(tokens)) reader.read(clause, { text: sentence, leads })
    if (reader.facts.length >= maxFacts) break
  }
  return reader.facts.slice(0, maxFacts)
}

interface Subject {
  readonly name: string
  /** The predicate. */
  readonly rest: readonly Token[]
}

class Reader {
  readonly facts: Fact[] = []
  readonly #context: TextContext
  /** The last person, company or place that was a subject, to resolve "she" and "it". */
  #last: string | null = null
  /** The last company or place in a location or employment relation, to resolve "it". */
  #lastPlace: string | null = null

  constructor(context: TextContext) {
    this.#context = context
  }

  /** Before a question only what is said of the user counts: of others it is what the question is about. */
  read(clause: readonly Token[], { text, leads }: { readonly text: string; readonly leads: boolean }): void {
    const counts = ({ subject, relation }: About): boolean => !leads || (subject === user && isKnown(relation))
    const timed = takeTimes(clause, this.#context.observedAt)
    const found = this.#about(timed.tokens, timed.from !== null)
    if (found.length > 0) this.#add(found.filter(counts), { text, ...timed })
    else if (timed.tokens.length < clause.length)
      this.#add(this.#about(clause, false).filter(counts), { text, from: null, to: null })
  }

  #add(
    found: readonly About[],
    { text, from, to }: { readonly text: string; readonly from: number | null; readonly to: number | null },
  ): void {
    const { observedAt } = this.#context
    for (const { subject, ended, ...statement } of found) {
      const isSpan = from !== null && to !== null && to > from
      const validFrom = ended && !isSpan ? (to ?? from ?? observedAt) : (from ?? observedAt)
      const validTo = isSpan ? to : null
      const fact = { subject, ...statement, ended: ended && !isSpan, validFrom, validTo, observedAt, text }
      if (!this.facts.some((known) => isSame(known, fact))) this.facts.push(fact)
      if (/_(?:at|in|by)$/.test(statement.relation)) this.#lastPlace = statement.object
    }
  }

  #about(clause: readonly Token[], hasDate: boolean): readonly About[] {
    if (clause.length < 2) return []
    const isUsers = this.#context.speaker === 'user' && clause.some(({ low }) => ['my', 'our', 'me', 'i'].includes(low))
    const backwards = this.#context.speaker === 'user' ? inverted(clause) : []
    if (backwards.length > 0) return backwards.map((statement) => ({ ...statement, subject: user }))
    const owned = this.#owned(clause, hasDate)
    if (owned !== null) return owned
    const subject = this.#subject(clause)
    if (subject === null) return isUsers ? contactsIn(clause).map((statement) => ({ ...statement, subject: user })) : []
    const found = this.#predicate(subject, hasDate)
    return found.length > 0 || !isUsers
      ? found
      : contactsIn(clause).map((statement) => ({ ...statement, subject: user }))
  }

  /** Reads "My sister Anna …", "Anna's manager …", "her dog …": the noun names a relation, or another subject. */
  #owned(clause: readonly Token[], hasDate: boolean): readonly About[] | null {
    const owner = this.#owner(clause)
    if (owner === null) return null
    const noun = ownedNoun(owner.rest)
    const { attribute, rest } = noun
    const length =
      attribute !== null && isBeing(attribute) ? nameLength(rest[0]?.low === ',' ? rest.slice(1) : rest) : 0
    if (attribute !== null && length > 0) {
      const start = rest[0]?.low === ',' ? 1 : 0
      const name = textOfTokens(rest.slice(start, start + length))
      this.#last = name
      const { relation, single } = attribute
      const behind = rest.slice(start + length)
      const more =
        behind.length === 0
          ? []
          : this.#predicate({ name, rest: behind[0]?.low === ',' ? behind.slice(1) : behind }, hasDate)
      return [{ subject: owner.name, relation, object: name, single, ended: false }, ...more]
    }
    const statements = equated(noun)
    if (statements.length > 0) {
      const [only] = statements
      if (attribute !== null && isBeing(attribute) && only !== undefined) this.#last = only.object
      return statements.map((statement) => ({ ...statement, subject: owner.name }))
    }
    if (attribute === null || !isBeing(attribute)) return []
    const name = `${owner.name}'s ${attribute.relation}`
    this.#last = name
    return this.#predicate({ name, rest }, hasDate)
  }

  #owner(clause: readonly Token[]): Subject | null {
    const [first, second, third] = clause
    const low = first?.low ?? ''
    if (this.#context.speaker === 'user' ? low === 'my' || low === 'our' : low === 'your')
      return { name: user, rest: clause.slice(1) }
    if (low === 'the' && second?.low === 'user' && third?.low === "'s") return { name: user, rest: clause.slice(3) }
    if (low === 'user' && second?.low === "'s") return { name: user, rest: clause.slice(2) }
    if (['his', 'her', 'their', 'its'].includes(low) && this.#last !== null)
      return { name: this.#last, rest: clause.slice(1) }
    const length = nameLength(clause)
    if (length === 0 || clause[length]?.low !== "'s") return null
    return { name: textOfTokens(clause.slice(0, length)), rest: clause.slice(length + 1) }
  }

  #subject(clause: readonly Token[]): Subject | null {
    const low = clause[0]?.low ?? ''
    const { speaker } = this.#context
    if (speaker === 'user' ? low === 'i' || low === 'we' : low === 'you') return { name: user, rest: clause.slice(1) }
    // "Just moved to Oslo": the pronoun "I" is omitted
    if (speaker === 'user' && dropped.has(low)) return { name: user, rest: clause }
    if (speaker === 'user' && dislikes.test(beginningOf(clause)))
      return { name: user, rest: low === 'not' ? [am, ...clause] : clause }
    if (low === 'user' || (low === 'the' && clause[1]?.low === 'user'))
      return { name: user, rest: clause.slice(low === 'the' ? 2 : 1) }
    if (low === 'it' && this.#lastPlace !== null) return { name: this.#lastPlace, rest: clause.slice(1) }
    if (['he', 'she', 'they', 'it'].includes(low))
      return this.#last === null ? null : { name: this.#last, rest: clause.slice(1) }
    const article = low === 'the' ? 1 : 0
    const length = nameLength(clause.slice(article))
    if (length === 0) return null
    const name = textOfTokens(clause.slice(article, article + length))
    this.#last = name
    return { name, rest: clause.slice(article + length) }
  }

  #predicate({ name, rest }: Subject, hasDate: boolean): readonly About[] {
    const { tokens, negated, unreal } = predicateOf(rest, hasDate)
    const withNoun = negated || unreal ? [] : changed(tokens)
    const known = withNoun.length > 0 ? withNoun : statementsOf(rest, hasDate)
    const about = (statement: Statement): About => ({ ...statement, ...placed(name, statement), subject: name })
    if (known.length > 0 && (name === user || known.some(({ relation }) => relation !== 'name')))
      return [...known.map(about), ...(name === user || namesValue(known) ? [] : linked({ name, rest, hasDate }))]
    return linked({ name, rest, hasDate })
  }
}

/** Verbs before which "I" is often omitted. */
const dropped: ReadonlySet<string> = new Set(
  'moved relocated joined started got bought switched went live work love hate visited'.split(' '),
)

/** "Not a fan of pies", "can't stand pies". */
const dislikes = /^(?:not (?:a|an|into|fond|keen|big)|can not (?:stand|bear|eat|have|drink)) /
const beginningOf = (clause: readonly Token[]): string =>
  `${clause
    .slice(0, 3)
    .map(({ low }) => low)
    .join(' ')} `
const am: Token = { text: 'am', low: 'am', lemma: 'be' }

/**
 * Whether a value of the statements contains a name or a number. If not, as in "Anna plays tennis with Tom", the clause
 * is also read as a connection of two people.
 */
const namesValue = (statements: readonly Statement[]): boolean =>
  statements.some(({ object }) => /\p{Lu}/u.test(object) || /\d/.test(object))

/** A statement with its subject. */
type About = Statement & { readonly subject: string }

/** Renames `lives_in` to `located_in` when the subject is an organisation. */
const placed = (name: string, { relation }: Statement): { readonly relation: string } => ({
  relation: relation === 'lives_in' && name !== user && isOrganisation(name) ? 'located_in' : relation,
})

const organisations =
  /\b(?:inc|ltd|llc|gmbh|corp|corporation|company|labs?|group|university|college|school|hospital|bank|foundation|institute|studios?|systems|technologies|industries|solutions|partners|works|co)\b/i

const isOrganisation = (name: string): boolean => organisations.test(name) && attributeOf([name.toLowerCase()]) === null

const isSame = (one: Fact, other: Fact): boolean =>
  one.subject === other.subject &&
  one.relation === other.relation &&
  one.object === other.object &&
  one.ended === other.ended
