import { join } from 'node:path'
import type { PairReaderParts } from './pair-reader.ts'
import type { OnnxRuntime, OnnxSession, StatesPlace } from './schema.ts'

/**
 * Layers that were trained to judge one thing, and continue from what the lower layers of the sentence model make of a text, or of two as
 * one: whether a statement updates an older one (specs/decisions/0138-facts-by-rules.md), and whether a passage of a skill does harm
 * (0157-skills.md).
 */
export class LayersReader {
  /** Name of the value of the sentence model from which it continues. */
  readonly states: string
  readonly #runtime: OnnxRuntime
  readonly #layers: OnnxSession

  private constructor(runtime: OnnxRuntime, layers: OnnxSession, states: string) {
    this.#runtime = runtime
    this.#layers = layers
    this.states = states
  }

  static async open(
    { runtime, folder, options }: PairReaderParts,
    { file, states }: StatesPlace,
  ): Promise<LayersReader> {
    return new LayersReader(runtime, await runtime.InferenceSession.create(join(folder, file), options), states)
  }

  /**
   * Returns the logarithm of the odds, or for two texts what it adds to that of their vectors.
   *
   * @param tokens numbers of tokens: of the text, or of the first and of the second one.
   */
  async odds(states: Float32Array, ...tokens: readonly [number] | readonly [number, number]): Promise<number> {
    const [first, second = 0] = tokens
    const count = first + second
    const tensor = (data: Float32Array, ...dims: readonly number[]) => new this.#runtime.Tensor('float32', data, dims)
    const ofEach = Float32Array.from({ length: 2 * count }, (_, at) => Number(at < count === at % count < first))
    const { odds } = await this.#layers.run({
      states: tensor(states, 1, count, states.length / count),
      ...(second > 0 && { texts: tensor(ofEach, 1, 2, count) }),
    })
    if (!(odds?.data instanceof Float32Array)) throw new Error('the reader has no odds')
    return odds.data[0] ?? 0
  }
}
