import { user } from '../fact.ts'
import { attributeOf } from './attributes.ts'
import { nameLength } from './clauses.ts'
import { lemmaOf } from './lemmas.ts'
import { type Token, textOfTokens } from './tokens.ts'
import { predicateOf } from './verbs.ts'

/** A subject and its predicate. */
interface Linking {
  readonly name: string
  readonly rest: readonly Token[]
  readonly hasDate: boolean
}

/** Words between two names that do not describe their connection. */
const loose: ReadonlySet<string> = new Set(
  'a an the is are was were am be been has have had and also , very'.split(' '),
)

/** Words with which no predicate begins: what stands before them is an order or a phrase, as in "Draft a letter to Ada". */
const nominal: ReadonlySet<string> = new Set(
  'a an the as at by due for from in me my of on our to with her his their him them it you your everything all every each'.split(
    ' ',
  ),
)

const maxWords = 5

/**
 * Reads a statement that connects two names by the words between them: "Anna mentored Bob", "Acme was founded by
 * Carol". In "Tom is Anna's manager" and "Lyon is the capital of Rhône" the second name is the subject.
 */
export const linked = ({ name, rest, hasDate }: Linking): readonly Link[] => {
  const { unreal, negated } = predicateOf(rest, hasDate)
  if (unreal || negated || nominal.has(rest[0]?.low ?? '') || (name === user && isPlaced(rest))) return []
  const start = rest.findIndex((_, at) => nameLength(rest.slice(at)) > 0)
  if (start <= 0 || start > maxWords) return []
  const length = nameLength(rest.slice(start))
  const other = textOfTokens(rest.slice(start, start + length))
  const words = rest.slice(0, start).filter(({ low }) => !loose.has(low))
  const behind = rest.slice(start + length)
  if (behind[0]?.low === "'s") return ownedBy({ name, other, words: behind.slice(1) })
  if (words.at(-1)?.low === 'of' && rest[0]?.lemma === 'be') return ownedBy({ name, other, words: words.slice(0, -1) })
  if (words.length === 0 || (name === user && (words.length > 3 || !/\p{Lu}/u.test(other)))) return []
  const relation = words.map(({ low }) => low.replace(/[^\p{L}\p{N}]+/gu, '')).join('_')
  return [{ subject: name, relation: relationOf(relation), object: other, single: false, ended: false }]
}

/** Whether it says where its user is, or what they were about to do: "am at the airport", "was thinking of". */
const isPlaced = ([be, next]: readonly Token[]): boolean =>
  be?.lemma === 'be' &&
  (['at', 'in', 'on'].includes(next?.low ?? '') || (be.low === 'was' && /ing$/.test(next?.low ?? '')))

interface Link {
  readonly subject: string
  readonly relation: string
  readonly object: string
  readonly single: boolean
  readonly ended: boolean
}

interface Owned {
  readonly name: string
  readonly other: string
  readonly words: readonly Token[]
}

const ownedBy = ({ name, other, words }: Owned): readonly Link[] => {
  const nouns = words.map(({ low }) => low).slice(0, 4)
  if (nouns.length === 0) return []
  const attribute = attributeOf(nouns)
  const relation = attribute?.relation ?? nouns.join('_')
  return [{ subject: other, relation, object: name, single: attribute?.single ?? false, ended: false }]
}

/** Reduces a single verb to its base form, so that "mentors" and "mentored" are one relation. */
const relationOf = (words: string): string => {
  const [first = '', ...others] = words.split('_')
  return others.length === 0 ? lemmaOf(first) : words
}
