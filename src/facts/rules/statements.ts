import { sameValue } from '../names.ts'
import { singleValueOf, valuesOf } from './objects.ts'
import { beginningsOf, match, type Pattern, patternOf, type Slots } from './patterns.ts'
import { predicates } from './predicates.ts'
import type { Token } from './tokens.ts'
import { predicateOf } from './verbs.ts'
import { isPeople, isRole, slotWords } from './words.ts'

/** A statement that a clause makes about its subject. */
export interface Statement {
  readonly relation: string
  readonly object: string
  readonly single: boolean
  readonly ended: boolean
}

interface Form {
  readonly relation: string
  readonly single: boolean
  readonly ending: boolean
  readonly pattern: Pattern
}

const forms = new Map<string, Form[]>()
const singles = new Map<string, boolean>()

for (const [relation, rule] of predicates) {
  singles.set(relation, rule.single)
  const written = [
    ...rule.forms.map((form) => [form, false] as const),
    ...(rule.endings ?? []).map((form) => [form, true] as const),
  ]
  for (const [form, ending] of written) {
    const pattern = patternOf(form)
    for (const word of new Set(beginningsOf(pattern))) {
      const known = forms.get(word) ?? []
      forms.set(word, known)
      known.push({ relation, single: rule.single, ending, pattern })
    }
  }
}

/** Whether a subject has only one value of the relation at a time. */
export const isSingle = (relation: string): boolean => singles.get(relation) ?? relation.startsWith('favourite_')

/** Whether a relation has a pattern, and says more than what is before a person now. */
export const isKnown = (relation: string): boolean =>
  singles.has(relation) && relation !== 'has' && relation !== 'wants'

/** Reads a predicate as statements about its subject; empty when no rule matches. */
export const statementsOf = (clause: readonly Token[], hasDate: boolean): readonly Statement[] => {
  const { tokens, negated, past, unreal } = predicateOf(clause, hasDate)
  if (unreal || tokens.length === 0) return []
  const refused = negated ? formsOf(withoutDo(clause)).filter(({ relation }) => isRefusal.has(relation)) : []
  const found = refused.length > 0 ? refused : formsOf(tokens)
  const statements = found.length > 0 ? found : plainly(tokens)
  const isOver = refused.length === 0 && (negated || past)
  return statements
    .map((statement) => (isOver ? { ...statement, ended: true } : statement))
    .flatMap((statement) =>
      negated && refused.length === 0 && statement.relation === 'likes'
        ? withOpposite(statement, 'dislikes')
        : withItsOpposite(statement),
    )
}

/** Relations that are expressed by a negation. */
const isRefusal: ReadonlySet<string> = new Set(['dislikes', 'avoids'])

const withoutDo = (clause: readonly Token[]): readonly Token[] => (clause[0]?.lemma === 'do' ? clause.slice(1) : clause)

/** Not liking something counts as disliking it. */
const withOpposite = (statement: Statement, relation: string): readonly Statement[] => [
  { ...statement, ended: true },
  { ...statement, relation, ended: false },
]

/** Liking something ends disliking it, and vice versa. */
const withItsOpposite = (statement: Statement): readonly Statement[] => {
  const opposite = { likes: 'dislikes', dislikes: 'likes' }[statement.relation]
  return opposite === undefined || statement.ended
    ? [statement]
    : [statement, { ...statement, relation: opposite, ended: true }]
}

const formsOf = (tokens: readonly Token[]): readonly Statement[] => {
  const [first] = tokens
  if (first === undefined) return []
  const candidates = new Set([...(forms.get(first.low) ?? []), ...(forms.get(first.lemma) ?? [])])
  const endings: Statement[] = []
  for (const form of candidates) {
    if (form.ending && endings.some(({ relation }) => relation === form.relation)) continue
    const slots = match(form.pattern, tokens)
    const statements = slots === null ? [] : taken(form, slots)
    if (statements.length === 0) continue
    if (!form.ending) return endings.length > 0 ? endings : statements
    endings.push(...statements)
  }
  return endings
}

const taken = (form: Form, slots: Slots): readonly Statement[] => {
  const statements: Statement[] = []
  for (const [name, slot] of slots) {
    if (name === '_' || name === 'home_word') continue
    const accepts = slotWords[name]
    if (accepts !== undefined && !accepts(slot.map(({ low }) => low))) return []
    const relation = name === 'o' || accepts !== undefined ? form.relation : name
    statements.push(...valuesAs(relation, slot).map((statement) => ({ ...statement, ended: form.ending })))
  }
  if (slots.has('home_word') && !slotWords.home_word?.((slots.get('home_word') ?? []).map(({ low }) => low))) return []
  if (slots.size === 0) return [{ relation: form.relation, single: form.single, object: '', ended: true }]
  return statements
}

/** Returns a slot as statements: one for a single-valued relation, otherwise one per item of the list. */
export const valuesAs = (
  relation: string,
  slot: readonly Token[],
  single = isSingle(relation),
): readonly Statement[] => {
  const values = single ? [singleValueOf(slot)] : valuesOf(slot)
  return values
    .map((value) => (relation === 'age' ? value.replace(/\D+$/, '') : value))
    .filter(
      (value, at) =>
        value !== '' && values.findIndex((other) => sameValue(other, value)) === at && fits(relation, value),
    )
    .map((object) => ({ relation, object, single, ended: false }))
}

const places: ReadonlySet<string> = new Set(['lives_in', 'hometown', 'visited'])
const pronouns: ReadonlySet<string> = new Set('it this that him her them you me us there here one'.split(' '))

/** What only the conversation shows: "this answer", "the second version". */
const shown =
  /^(?:this|that|these|those|it|(?:the )?(?:first|second|third|last|latest|previous|other|new|next|following|current))\b/i

/** Whether a value is plausible for its relation: a place is not a number, and a pronoun is meaningless later. */
const fits = (relation: string, value: string): boolean =>
  !pronouns.has(value.toLowerCase()) &&
  !(places.has(relation) && /^\d/.test(value)) &&
  !((relation === 'likes' || relation === 'dislikes') && isShown(value))

/** Whether words name something in the conversation. */
export const isShown = (value: string): boolean => shown.test(value)

/** Reads "I am Anna", "I am German", "I am a data engineer". */
const plainly = (tokens: readonly Token[]): readonly Statement[] => {
  const [be, ...rest] = tokens
  if (be?.lemma !== 'be' && be?.lemma !== 'become') return []
  const [first, ...others] = rest
  if (first === undefined) return []
  const words = rest.map(({ low }) => low)
  const isArticle = first.low === 'a' || first.low === 'an' || first.low === 'the'
  if (isArticle) return isRole(others.map(({ low }) => low)) ? valuesAs('occupation', others) : workOf(others)
  if (rest.length === 1 && isPeople(words[0] ?? '') && /^\p{Lu}/u.test(first.text))
    return valuesAs('nationality', rest, true)
  const isName = rest.length <= 3 && rest.every(({ text }) => /^\p{Lu}\p{L}/u.test(text))
  return isName ? valuesAs('name', rest) : []
}

/** Reads "a nurse at Mercy Hospital", "a developer for Acme". */
const workOf = (words: readonly Token[]): readonly Statement[] => {
  const at = words.findIndex(({ low }) => low === 'at' || low === 'for')
  if (at <= 0 || !isRole(words.slice(0, at).map(({ low }) => low))) return []
  return [...valuesAs('occupation', words.slice(0, at)), ...valuesAs('works_at', words.slice(at + 1))]
}
