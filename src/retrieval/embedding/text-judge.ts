import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type JudgeWeights, judgeWeightsOf, type StatesPlace, type Trait } from './schema.ts'

/**
 * Judges traits of a text: whether it contains instructions aimed at an assistant
 * (specs/decisions/0317-instructions-by-meaning.md), and whether it states what lasts of its author's life (0138). Each is a
 * logistic regression, trained on such texts, over what the sentence model makes of one.
 */
export class TextJudge {
  readonly #weights: Readonly<Partial<Record<Trait, JudgeWeights>>>

  private constructor(weights: Readonly<Partial<Record<Trait, JudgeWeights>>>) {
    this.#weights = weights
  }

  static async open({ folder }: { readonly folder: string }, { file }: StatesPlace): Promise<TextJudge> {
    const json: unknown = JSON.parse(await readFile(join(folder, file), 'utf8'))
    return new TextJudge(judgeWeightsOf(json))
  }

  /**
   * Returns the logarithm of the odds of a trait.
   *
   * @param meaning the mean state of the text's tokens in the lower layers, then its vector.
   * @throws {Error} when it was not trained for the trait.
   */
  odds(meaning: Float32Array, trait: Trait): number {
    const judged = this.#weights[trait]
    if (judged === undefined) throw new Error(`the model does not judge ${trait}`)
    return meaning.reduce((sum, value, at) => sum + value * (judged.weights[at] ?? 0), judged.bias)
  }
}
