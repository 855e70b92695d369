import type { Passage } from '#retrieval/passage.ts'
import type { Profile } from '#retrieval/passage-index.ts'

/** What is found: a passage as the engine takes it, but for its vector. */
export type Text = Omit<Passage, 'vector'>

export interface Question {
  readonly text: string
  /** Ids of the passages that answer it, with their grades where a set has them; none for one that nothing answers. */
  readonly relevant: ReadonlyMap<string, number>
  /** Sort of question in the words of its set. */
  readonly sort: string
  readonly now: number
  /** Of a statement and the later one that replaces it: both are relevant. */
  readonly newer?: { readonly older: readonly string[]; readonly newer: readonly string[] }
}

/** Passages of one person or base, and questions about them. */
export interface Scope {
  readonly name: string
  readonly texts: readonly Text[]
  readonly questions: readonly Question[]
  /** Titles of groups. */
  readonly titles?: ReadonlyMap<string, string>
  /** What a passage counts as: the page that it is on. Without it, as itself. */
  readonly partOf?: (id: string) => string
}

export interface Collection {
  readonly name: string
  readonly profile: Profile
  readonly scopes: readonly Scope[]
}

/** Parts that are found, in order; what was found before counts for nothing in its place. */
export const partsOf = ({ partOf }: Scope, ids: readonly string[]): readonly string[] => {
  if (partOf === undefined) return ids
  const parts = ids.map(partOf)
  return parts.map((part, at) => (parts.indexOf(part) === at ? part : `${part}#again`))
}

export const relevantOf = (ids: Iterable<string>): ReadonlyMap<string, number> => new Map([...ids].map((id) => [id, 1]))

/** Half of the questions are for tuning; what is reported is the other half. By place, so that both have every sort. */
export const isReported = (place: number): boolean => place % 2 === 1
