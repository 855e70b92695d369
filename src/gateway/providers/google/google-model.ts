import { priceOf } from '#gateway/prices/prices.ts'

/** What models of Google take, where they differ. */
export interface GoogleModel {
  readonly maxOutput: number | null
  /** False: `temperature` and `topP` are refused. */
  readonly sampling: boolean
  /** How it is set to think: by a level, by a budget in tokens, or not at all. */
  readonly thinking: 'level' | 'budget' | 'none'
  /** Thinking cannot be turned off, and the level `minimal` is not known. */
  readonly alwaysThinks: boolean
  /** Function calls come with signatures that have to come back. */
  readonly signs: boolean
}

/** By the price snapshot and by the generation in the id. */
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
