import type { SyncedModel } from './kinds.ts'

/** A model whose description by the provider has changed. */
export type ChangedModel = SyncedModel & { readonly previous: Pick<SyncedModel, 'name' | 'context_window'> }

/** The difference between two lists of models, each part in the order of its list. */
export interface ModelDiff {
  readonly added: readonly SyncedModel[]
  readonly removed: readonly SyncedModel[]
  readonly changed: readonly ChangedModel[]
}

/** The difference from `before` to `after`; ids are unique in both. */
export const modelDiff = (before: readonly SyncedModel[], after: readonly SyncedModel[]): ModelDiff => {
  const had = new Map(before.map((model) => [model.id, model]))
  const has = new Set(after.map(({ id }) => id))
  return {
    added: after.filter(({ id }) => !had.has(id)),
    removed: before.filter(({ id }) => !has.has(id)),
    changed: after.flatMap((model) => {
      const old = had.get(model.id)
      if (old === undefined || (old.name === model.name && old.context_window === model.context_window)) return []
      const { name, context_window } = old
      return [{ ...model, previous: { name, context_window } }]
    }),
  }
}
