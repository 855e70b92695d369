/**
 * The parts of an effect: commits of `actor` between `after` and `before` whose cause is the effect's id, `#` and a
 * number.
 */
export interface EffectParts {
  readonly actor: string
  readonly effect: string
  readonly after: number
  readonly before: number
  /** The caller's epoch: nothing is done when the actor has a commit of a higher one. */
  readonly epoch: number
}

/**
 * Outcome of a merge.
 * - `removed`: number of removed commits; `next` is where to continue, null when all parts have been processed.
 * - `waits`: a part is not closed yet.
 * - `overtaken`: another process runs the actor.
 */
export type MergeOutcome =
  | { readonly kind: 'removed'; readonly commits: number; readonly next: number | null }
  | { readonly kind: 'waits' | 'overtaken' }
