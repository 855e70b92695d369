import type { Passage } from '#retrieval/passage.ts'
import type { Profile } from '#retrieval/passage-index.ts'

/** A passage to be found, as the engine indexes it, without its vectors. */
export type Text = Omit<Passage, 'vector' | 'lead'>

export interface Question {
  readonly text: string
  /** Ids of the passages that answer it, with their grades if the set has any; empty when nothing answers it. */
  readonly relevant: ReadonlyMap<string, number>
  /** Category of the question, as its set names it. */
  readonly sort: string
  readonly now: number
  /** Ids of a statement and of the later one that replaces it. Both are relevant. */
  readonly newer?: { readonly older: readonly string[]; readonly newer: readonly string[] }
}

/** Passages of one person or knowledge base, and questions about them. */
export interface Scope {
  readonly name: string
  readonly texts: readonly Text[]
  readonly questions: readonly Question[]
  /** Titles by group. */
  readonly titles?: ReadonlyMap<string, string>
  /** Returns the part that a passage counts as, such as its page. When absent, a passage counts as itself. */
  readonly partOf?: (id: string) => string
}

export interface Collection {
  readonly name: string
  readonly profile: Profile
  readonly scopes: readonly Scope[]
}

/** Maps passages to the parts that they count as, in order. A repeated part gets an id that is never relevant. */
export const partsOf = ({ partOf }: Scope, ids: readonly string[]): readonly string[] => {
  if (partOf === undefined) return ids
  const parts = ids.map(partOf)
  return parts.map((part, at) => (parts.indexOf(part) === at ? part : `${part}#again`))
}

export const relevantOf = (ids: Iterable<string>): ReadonlyMap<string, number> => new Map([...ids].map((id) => [id, 1]))

/**
 * Whether the question at this position is reported; the others are for tuning. Chosen by position, so that both halves
 * have every category.
 */
export const isReported = (place: number): boolean => place % 2 === 1
