/** A statement about a person or thing, with the time during which it holds. Times are in ms since the epoch. */
export interface Fact {
  /** `user` for the owner of the memory, otherwise a name. */
  readonly subject: string
  /** A verb or noun in snake_case: `lives_in`, `allergic_to`, `favourite_colour`. */
  readonly relation: string
  /** Empty only in a fact that ends all values of a relation ("I lost my job"). */
  readonly object: string
  /** Whether a subject has only one value of the relation at a time. */
  readonly single: boolean
  /**
   * Whether the statement says that something no longer holds. Such a fact closes stored ones and is not stored itself.
   */
  readonly ended: boolean
  readonly validFrom: number
  /** Null while it holds. */
  readonly validTo: number | null
  /** When it was stated; of two statements with equal `validFrom` the later one wins. */
  readonly observedAt: number
  /** The source sentence. */
  readonly text: string
}

/** Subject of facts about the owner of the memory. */
export const user = 'user'

/** Formats a fact as a sentence that is understood without the conversation. */
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
