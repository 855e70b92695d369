import { join } from 'node:path'
import type { PairReaderParts } from './pair-reader.ts'
import type { OnnxRuntime, OnnxSession, UpdateReaderPlace } from './schema.ts'

/**
 * Reads an older and a newer statement together (specs/decisions/0138-facts-by-rules.md): layers that were trained for it continue from
 * what the lower layers of the sentence model make of both texts as one.
 */
export class UpdateReader {
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
    { file, states }: UpdateReaderPlace,
  ): Promise<UpdateReader> {
    return new UpdateReader(runtime, await runtime.InferenceSession.create(join(folder, file), options), states)
  }

  /**
   * Returns what it adds to the logarithm of the odds that the newer text updates the older one.
   *
   * @param tokens numbers of tokens of the older text, then of the newer one.
   */
  async odds(states: Float32Array, tokens: readonly [number, number]): Promise<number> {
    const count = tokens[0] + tokens[1]
    const texts = Float32Array.from({ length: 2 * count }, (_, at) => Number(at < count === at % count < tokens[0]))
    const tensor = (data: Float32Array, ...dims: readonly number[]) => new this.#runtime.Tensor('float32', data, dims)
    const { odds } = await this.#layers.run({
      states: tensor(states, 1, count, states.length / count),
      texts: tensor(texts, 1, 2, count),
    })
    if (!(odds?.data instanceof Float32Array)) throw new Error('the reader of updates has no odds')
    return odds.data[0] ?? 0
  }
}
