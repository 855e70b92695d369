/** One statement about a person or thing, with the time for which it holds. Times are in ms since the epoch. */
export interface Fact {
  /** `user` for the person that the memory belongs to, else a name. */
  readonly subject: string
  /** A verb or noun in snake_case: `lives_in`, `allergic_to`, `favourite_colour`. */
  readonly relation: string
  /** Empty only in a fact that ends every value of a relation ("I lost my job"). */
  readonly object: string
  /** Whether a subject has one value of the relation at a time. */
  readonly single: boolean
  /** The statement says that this holds no longer: it closes what was stored and is no fact of its own. */
  readonly ended: boolean
  readonly validFrom: number
  /** Null while it holds. */
  readonly validTo: number | null
  /** When it was said, which decides between two statements of one time. */
  readonly observedAt: number
  /** The sentence that said it. */
  readonly text: string
}

/** The subject that stands for the person that the memory belongs to. */
export const user = 'user'

/** A fact as a sentence that can be read without the conversation around it. */
export const statementOf = ({ subject, relation, object }: Fact): string => {
  const words = relation.replaceAll('_', ' ')
  const who = subject === user ? 'The user' : subject
  return verbal.has(relation) ? `${who} ${words} ${object}` : `${who}’s ${words} is ${object}`
}

/** Relations that read as verbs. */
const verbal: ReadonlySet<string> = new Set(
  'lives_in works_at likes dislikes knows visited speaks studies_at studies owns has plays avoids drives uses located_in wants member_of practises'.split(
    ' ',
  ),
)
