import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type GuardPlace, type GuardWeights, guardWeightsOf } from './schema.ts'

/**
 * Judges whether a text contains instructions aimed at an assistant (specs/decisions/0317-instructions-by-meaning.md): a
 * logistic regression, trained on such texts, over what the sentence model makes of one.
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

  /** Returns the logarithm of the odds. @param meaning the mean state of the text's tokens in the lower layers, then its vector. */
  odds(meaning: Float32Array): number {
    const { bias, weights } = this.#weights
    return meaning.reduce((sum, value, at) => sum + value * (weights[at] ?? 0), bias)
  }
}
