import { priceOf } from '#gateway/prices/prices.ts'

/** Parameters in which Google's models differ. */
export interface GoogleModel {
  readonly maxOutput: number | null
  /** False: the model rejects `temperature` and `topP`. */
  readonly sampling: boolean
  /** How thinking is configured: by a level, by a budget in tokens, or not at all. */
  readonly thinking: 'level' | 'budget' | 'none'
  /** Whether thinking cannot be turned off; such a model does not know the level `minimal`. */
  readonly alwaysThinks: boolean
  /** Whether function calls carry signatures that must be sent back. */
  readonly signs: boolean
}

/** Derives the parameters from the price snapshot and the generation in the id. */
export function googleModel(id: string): GoogleModel {
  const row = priceOf(id)
  const generation = Number(/^gemini-(\d+(?:\.\d+)?)/.exec(id)?.[1] ?? Number.NaN)
  const reasons = row === undefined ? generation >= 2.5 : row.capabilities.includes('reasoning')
  return {
    maxOutput: row?.max_output ?? null,
    sampling: row?.sampling !== false,
    thinking: reasons ? (generation < 3 ? 'budget' : 'level') : 'none',
    alwaysThinks: id.includes('-pro'),
    signs: reasons && !(generation < 3),
  }
}
