import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type GuardPlace, type GuardWeights, guardWeightsOf } from './schema.ts'

/**
 * Judges whether a text contains instructions aimed at an assistant (specs/decisions/0317-instructions-by-meaning.md): a
 * logistic regression, trained on such texts, over the mean of what the lower layers of the sentence model make of one, and
 * over its vector.
 */
export class InstructionJudge {
  readonly #weights: GuardWeights

  private constructor(weights: GuardWeights) {
    this.#weights = weights
  }

  static async open({ folder }: { readonly folder: string }, { file }: GuardPlace): Promise<InstructionJudge> {
    const json: unknown = JSON.parse(await readFile(join(folder, file), 'utf8'))
    return new InstructionJudge(guardWeightsOf(json))
  }

  /** Returns the logarithm of the odds. @param states rows of numbers, one for each token of the text. */
  odds(states: Float32Array, vector: Float32Array): number {
    const { bias, weights } = this.#weights
    const size = vector.length
    let [statedScore, meant] = [0, 0]
    for (let at = 0; at < states.length; at++) statedScore += (states[at] ?? 0) * (weights[at % size] ?? 0)
    for (let at = 0; at < size; at++) meant += (vector[at] ?? 0) * (weights[size + at] ?? 0)
    return bias + statedScore / (states.length / size) + meant
  }
}
