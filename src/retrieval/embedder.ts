import { LocalEmbedder } from './embedding/local-embedder.ts'
import type { Trait } from './embedding/schema.ts'

/** Embeds texts as vectors, so that texts of similar meaning are close. */
export interface Embedder {
  /** Stored with each vector: `local/all-minilm-l6-v2`, `openai/text-embedding-3-small`; `none` makes no vectors. */
  readonly id: string
  readonly dimensions: number
  /** True while it can make no vectors, so that texts are found by their words; absent: never. */
  readonly isOff?: boolean
  /**
   * Returns vectors of length 1, in the order of the texts; of zeros for a text that the model cannot read.
   *
   * @throws {EmbedderUnavailable} and the errors of a provider.
   */
  embed(texts: readonly string[], use: EmbedUse): Promise<readonly Float32Array[]>
  /**
   * Judges whether texts answer a question (`PairReader`). Returns the logarithm of the odds, in the order of the texts, for
   * as many of the first as there is time for; null when it cannot. Absent: it never can.
   *
   * @throws {EmbedderUnavailable}
   */
  read?(question: string, texts: readonly string[]): Promise<readonly number[] | null>
  /**
   * Judges whether texts have a trait (`TextJudge`), instructions aimed at an assistant by default. Returns the logarithm of the
   * odds, in the order of the texts, for as many of the first as there is time for; null when it cannot. Absent: it never can.
   *
   * @throws {EmbedderUnavailable}
   */
  judge?(texts: readonly string[], trait?: Trait): Promise<readonly number[] | null>
  /**
   * Judges which older texts a text updates (`UpdateJudge`, `UpdateReader`). Returns the logarithm of the odds, in the
   * order of the texts; null when it cannot. Absent: it never can.
   *
   * @throws {EmbedderUnavailable}
   */
  compare?(text: string, older: readonly OlderText[]): Promise<readonly number[] | null>
  /**
   * Judges whether passages of a skill would have an agent act against the one it works for (`PassageReader`). Returns the
   * logarithm of the odds, in the order of the passages, for as many of the first as there is time for, none when others were
   * served first; null when it cannot. Absent: it never can.
   *
   * @throws {EmbedderUnavailable}
   */
  suspect?(passages: readonly string[]): Promise<readonly number[] | null>
}

/** A text that another one may update, and its vector. */
export interface OlderText {
  readonly text: string
  readonly vector: Float32Array
}

/** The embedder cannot make vectors now: it is opening, or was closed, or its process ended. */
export class EmbedderUnavailable extends Error {
  override readonly name = 'EmbedderUnavailable'
}

/** Use of an embedded text; some models treat questions differently from the passages to be found. */
export type EmbedUse = 'query' | 'passage'

/**
 * Opens a sentence model (ONNX) from a folder with `model.onnx`, `tokenizer.json` and the settings in the layout of
 * sentence-transformers. The packages `onnxruntime-node` and `@huggingface/tokenizers` have to be installed next to the
 * model or the product.
 *
 * @throws {Error} that names what is missing.
 */
export const openLocalEmbedder = (folder: string, { threads = 1 } = {}): Promise<LocalEmbedder> =>
  LocalEmbedder.open({ folder, threads })
