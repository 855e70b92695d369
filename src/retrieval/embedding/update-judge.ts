import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type StatesPlace, type UpdateWeights, updateWeightsOf } from './schema.ts'

/**
 * Judges whether a statement updates an older one (specs/decisions/0138-facts-by-rules.md): a logistic regression, trained on
 * such pairs, over what the sentence model makes of the newer one, and over the vectors of both.
 */
export class UpdateJudge {
  readonly #weights: UpdateWeights

  private constructor(weights: UpdateWeights) {
    this.#weights = weights
  }

  static async open({ folder }: { readonly folder: string }, { file }: StatesPlace): Promise<UpdateJudge> {
    const json: unknown = JSON.parse(await readFile(join(folder, file), 'utf8'))
    return new UpdateJudge(updateWeightsOf(json))
  }

  /**
   * Returns the logarithm of the odds for each of the older texts.
   *
   * @param meaning the mean state of the newer text's tokens in the lower layers, then its vector.
   * @param older vectors of the older texts.
   */
  odds(meaning: Float32Array, older: readonly Float32Array[]): readonly number[] {
    const { states, cosines, mean, products, older: ofOlder } = this.#weights
    const size = mean.length
    const stated = dot(meaning.subarray(0, size), states)
    const vector = meaning.subarray(size)
    const newer = centred(vector, mean)
    return older.map((each) => {
      const other = centred(each, mean)
      const product = newer.map((value, at) => value * (other[at] ?? 0))
      const close = dot(vector, each) * cosines[0] + product.reduce((sum, value) => sum + value, 0) * cosines[1]
      return stated + close + dot(product, products) + dot(other, ofOlder)
    })
  }
}

/** Returns the direction of a vector from the mean of all: unrelated texts of this kind of model are close. */
export function centred(vector: Float32Array, mean: ArrayLike<number>): Float32Array {
  const moved = vector.map((value, at) => value - (mean[at] ?? 0))
  const length = Math.hypot(...moved)
  return length > 0 ? moved.map((value) => value / length) : moved
}

const dot = (one: Float32Array, other: ArrayLike<number>): number =>
  one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0)
