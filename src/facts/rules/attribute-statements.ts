import { type Attribute, attributeOf, isBeing } from './attributes.ts'
import { match, patternOf } from './patterns.ts'
import { type Statement, valuesAs } from './statements.ts'
import { isProper, type Token } from './tokens.ts'
import { slotWords } from './words.ts'

/** The noun phrase after "my" or "Anna's", and the rest of the clause. */
export interface OwnedNoun {
  readonly attribute: Attribute | null
  readonly words: readonly Token[]
  readonly rest: readonly Token[]
}

const maxNoun = 5
const equating: ReadonlySet<string> = new Set([
  'be',
  'change',
  'switch',
  'become',
  'turn',
  ':',
  'include',
  'have',
  'equals',
  "'s",
  'go',
])

/** Reads the noun phrase before a verb, name or colon. */
export const ownedNoun = (tokens: readonly Token[]): OwnedNoun => {
  let best: OwnedNoun | null = null
  for (let length = 1; length <= Math.min(maxNoun, tokens.length); length++) {
    const words = tokens.slice(0, length)
    const attribute = attributeOf(words.map(({ low }) => low))
    if (attribute !== null) best = { attribute, words, rest: tokens.slice(length) }
    const next = tokens[length]
    if (next === undefined || equating.has(next.lemma)) break
  }
  if (best !== null) return best
  const end = tokens.findIndex(({ lemma }) => equating.has(lemma))
  const length = end < 0 || end > maxNoun ? 0 : end
  return { attribute: null, words: tokens.slice(0, length), rest: tokens.slice(length) }
}

const equations = [
  "'s name be {o}",
  'of choice be {o}',
  'of all time be {o}',
  'be called|named {o}',
  'be no longer {gone}',
  'be not {gone}',
  'be {o}',
  ': {o}',
  'include {o}',
  'change|switch|go|turn from {_} to|into {o}',
  'change|switch|go|turn to|into {o}',
  'become {o}',
  'have changed to {o}',
  'have become {o}',
  'have been {o}',
  'name be {o}',
  'have changed|switched|become to? {o}',
  'will be {o}',
  ', {O}',
].map(patternOf)

/** Reads a statement about an owned noun: "employer is Acme". For people and animals only a name is accepted. */
export const equated = ({ attribute, words, rest }: OwnedNoun): readonly Statement[] => {
  for (const pattern of equations) {
    const slots = match(pattern, rest)
    const slot = slots?.get('o') ?? slots?.get('gone')
    if (slot === undefined) continue
    const ended = slots?.has('gone') === true || wasSo(rest)
    return named(attribute, words, slot).map((statement) => ({ ...statement, ended }))
  }
  return []
}

const wasSo = ([first]: readonly Token[]): boolean => first?.low === 'was' || first?.low === 'were'

const named = (attribute: Attribute | null, words: readonly Token[], slot: readonly Token[]): readonly Statement[] => {
  if (attribute !== null) {
    if (isBeing(attribute) && !slot.some((token) => isProper(token))) return []
    return valuesAs(attribute.relation, slot, attribute.single)
  }
  if (words.length === 0 || words.length > 3 || !slot.slice(0, 4).some((token) => isProper(token))) return []
  return valuesAs(words.map(({ low }) => low.replace(/[^\p{L}\p{N}]+/gu, '_')).join('_'), slot, true)
}

const changes = [
  'switch|change|update|set|replace|swap|trade|move my|our {r} from {_} to {o}',
  'switch|change|update|set|replace|swap|trade|move my|our {r} to|with|for|by {o}',
  'have|get|find|hire|adopt|buy a|an|two|three|four|one|my new? {r} called|named {O}',
  'have|get|find|hire|adopt|buy a|an|two|three|four|one|my {r} , {O}',
  'have|get|find|hire|adopt a|an|my {r} : {O}',
  'switch|change|go to {o} as|for my|our {r}',
  'use|pick|choose|consider|take|select {o} as|for my|our {r}',
  'have|consider {o} as? my|our {r}',
  'go|stick with {o} as|for my|our {r}',
  'name my|our new? {r} {O}',
  'become a? {r} to {O}',
].map(patternOf)

/**
 * Reads predicates that set an attribute: "switched my bank to ING", "have a dog named Rex", "use Vim as my editor".
 */
export const changed = (predicate: readonly Token[]): readonly Statement[] => {
  for (const pattern of changes) {
    const slots = match(pattern, predicate)
    const noun = slots?.get('r')
    const slot = slots?.get('o')
    if (noun === undefined || slot === undefined || noun.length > maxNoun) continue
    const attribute = attributeOf(noun.map(({ low }) => low)) ?? {
      relation: noun.map(({ low }) => low).join('_'),
      single: true,
    }
    return valuesAs(attribute.relation, slot, attribute.single)
  }
  return []
}

const inverses = [
  '{o} be my|our {r}',
  '{o} be the name of my|our {r}',
  '{o} have become my|our {r}',
  '{o} become my|our {r}',
  '{o} be the {r} of mine',
  'call me {name}',
  'people|everyone|friends|everybody call me {name}',
  '{lives_in} be where i live',
  '{lives_in} be my home',
  '{lives_in} have|be been? home',
  '{works_at} be where i work',
  '{works_at} hire|recruit|employ|poach me',
  '{works_at} pay my salary',
  '{works_at} offer me a|the job|position and i accept',
  '{studies_at} be where i study',
  '{studies_at} accept|admit me',
  '{manager} manage|supervise me',
  '{manager} be in charge of me',
  '{doctor} treat me',
  '{language} be the language i prefer|speak',
  '{hometown} be where i grow|be up|born|raised',
  '{likes} be something i love|enjoy|like',
  '{allergic_to} trigger|cause|set my allergies|allergy',
  '{allergic_to} give me hives',
  '{allergic_to} make|makes me sick',
  'answer|reply|respond|speak|talk|write|chat to? me? in {language_word}',
  'use {language_word} with|for me',
].map(patternOf)

/**
 * Reads clauses in which the value comes first, or that address the assistant: "Acme is my new employer", "Berlin is
 * where I live", "call me Bob".
 */
export const inverted = (clause: readonly Token[]): readonly Statement[] => {
  for (const pattern of inverses) {
    const slots = match(pattern, clause)
    if (slots === null) continue
    const noun = slots.get('r')
    const slot = slots.get('o')
    if (noun !== undefined && slot !== undefined) {
      const attribute = attributeOf(noun.map(({ low }) => low))
      if (attribute !== null) return valuesAs(attribute.relation, slot, attribute.single)
      continue
    }
    const statements = [...slots].flatMap(([relation, words]) => valuesOfSlot(relation, words))
    if (statements.length > 0) return statements
  }
  return []
}

const valuesOfSlot = (name: string, words: readonly Token[]): readonly Statement[] => {
  if (name !== 'language_word') return valuesAs(name, words)
  return slotWords[name]?.(words.map(({ low }) => low)) === true ? valuesAs('language', words) : []
}
