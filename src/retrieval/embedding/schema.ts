import type { OlderText } from '../embedder.ts'

/** Characters of each of two texts that are read together, more than the tokens have that are. */
export const maxPairCharacters = 1_024

/** The part of the ONNX runtime that is used. */
export interface OnnxRuntime {
  readonly InferenceSession: {
    create(model: string | Uint8Array, options: Readonly<Record<string, unknown>>): Promise<OnnxSession>
  }
  readonly Tensor: {
    new (type: 'int64', data: BigInt64Array, dims: readonly number[]): OnnxTensor
    new (type: 'float32', data: Float32Array, dims: readonly number[]): OnnxTensor
  }
}

export interface OnnxTensor {
  readonly dims: readonly number[]
  readonly data: unknown
}

export interface OnnxSession {
  readonly inputNames: readonly string[]
  readonly outputNames: readonly string[]
  run(inputs: Readonly<Record<string, OnnxTensor>>): Promise<Readonly<Record<string, OnnxTensor>>>
}

/** The part of the tokenizers package that is used. */
export interface TokenizerModule {
  readonly Tokenizer: new (model: unknown, config: unknown) => Tokenizer
}

export interface Tokenizer {
  encode(text: string): { readonly ids: readonly number[] }
}

/** Settings read from the files of a model. */
export interface ModelSettings {
  /** Maximum tokens of a text; the rest is cut off. */
  readonly maxTokens: number
  readonly pooling: 'mean' | 'first'
  /** Prefix of a text, by its use. */
  readonly prefixes: { readonly query: string; readonly passage: string }
}

type Fields = ReadonlyMap<string, unknown>

const fieldsOf = (value: unknown): Fields =>
  new Map(typeof value === 'object' && value !== null ? Object.entries(value) : [])

const numberOf = (value: unknown): number | null =>
  typeof value === 'number' && value > 0 && value < 1e6 ? value : null

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Configuration files of a model as written by sentence-transformers; `null` for a missing one. */
export interface ModelFiles {
  readonly tokenizerConfig: unknown
  readonly sentence: unknown
  readonly pooling: unknown
  readonly prompts: unknown
}

/** Reads the settings from the files of a model; the defaults suit most sentence models. */
export function modelSettings({ tokenizerConfig, sentence, pooling, prompts }: ModelFiles): ModelSettings {
  const given = fieldsOf(fieldsOf(prompts).get('prompts'))
  const declared =
    numberOf(fieldsOf(sentence).get('max_seq_length')) ?? numberOf(fieldsOf(tokenizerConfig).get('model_max_length'))
  return {
    maxTokens: Math.min(declared ?? 256, 512),
    pooling: fieldsOf(pooling).get('pooling_mode_cls_token') === true ? 'first' : 'mean',
    prefixes: { query: textOf(given.get('query')), passage: textOf(given.get('passage') ?? given.get('document')) },
  }
}

/** Returns the entries of the vocabulary of a `tokenizer.json`; none for one in an unknown form. */
export function vocabularyOf(tokenizer: unknown): readonly string[] {
  const vocabulary = fieldsOf(fieldsOf(tokenizer).get('model')).get('vocab')
  // WordPiece and BPE map entries to numbers, Unigram lists them with their scores
  if (!Array.isArray(vocabulary)) return [...fieldsOf(vocabulary).keys()]
  return vocabulary.flatMap((entry: unknown) => (Array.isArray(entry) ? textOf(entry[0]) : []))
}

/** Whether a tokenizer works on bytes, so that its vocabulary says nothing about scripts. */
export function isByteLevel(tokenizer: unknown): boolean {
  const fields = fieldsOf(tokenizer)
  const parts = ['pre_tokenizer', 'decoder'].map((name) => JSON.stringify(fields.get(name) ?? null))
  return parts.some((part) => part.includes('"ByteLevel"'))
}

/** A request to the embedder's process: vectors of texts, how well texts answer a question, which traits they have, or which
 * older ones one updates. */
export type EmbedRequest =
  | {
      readonly kind: 'embed'
      readonly id: number
      readonly texts: readonly string[]
      readonly use: 'query' | 'passage'
    }
  | { readonly kind: 'read'; readonly id: number; readonly texts: readonly string[]; readonly question: string }
  | { readonly kind: 'judge'; readonly id: number; readonly texts: readonly string[]; readonly trait: Trait }
  | { readonly kind: 'suspect'; readonly id: number; readonly texts: readonly string[] }
  | {
      readonly kind: 'compare'
      readonly id: number
      /** The newer text alone. */
      readonly texts: readonly string[]
      readonly older: readonly OlderText[]
    }

/** Why the networks beside a sentence model cannot be used; null: they can, or there are none. */
export interface ReadersOff {
  readonly read: string | null
  readonly judge: string | null
  readonly compare: string | null
  readonly together: string | null
  readonly suspect: string | null
}

/** A message of the embedder's process: whether its model could be opened, or the result of a request. */
export type EmbedReply =
  | { readonly kind: 'open'; readonly dimensions: number; readonly off: ReadersOff }
  | { readonly kind: 'closed'; readonly reason: string }
  | { readonly kind: 'embedded'; readonly id: number; readonly vectors: readonly Float32Array[] }
  | { readonly kind: 'read'; readonly id: number; readonly odds: readonly number[] }
  | { readonly kind: 'failed'; readonly id: number; readonly reason: string }

/** Casts a message of the embedder's process. It is trusted and not validated. */
export const replyOf = (message: unknown): EmbedReply => message as EmbedReply
export const requestOf = (message: unknown): EmbedRequest => message as EmbedRequest

/** Start arguments of the process. */
export interface ModelPlace {
  readonly folder: string
  readonly threads: number
  /** SHA-256 of files that are checked before the model is opened, by name; absent: none is. */
  readonly hashes?: Readonly<Record<string, string>>
  /**
   * Inner values at which the sentence model is cut, from the lowest layer on, so that what needs one of them does not run the
   * layers above it. Absent: the model is run as a whole.
   */
  readonly cuts?: readonly string[]
  /**
   * Files of a reader (`PairReader`), and the value of the sentence model from which it continues. Absent: texts are
   * compared by their vectors only.
   */
  readonly reader?: ReaderPlace
  /** File of a judge of traits (`TextJudge`). Absent: rules alone judge. */
  readonly guard?: StatesPlace
  /** File of a judge of updates (`UpdateJudge`). Absent: rules alone judge. */
  readonly update?: StatesPlace
  /** File of a reader (`LayersReader`) of both texts. Absent: that judge alone judges. */
  readonly updateReader?: StatesPlace
  /** File of a reader of skills. Absent: rules alone find what is wrong with one. */
  readonly passageReader?: StatesPlace
}

/** What a text is judged for. */
export type Trait = 'instructions' | 'lasting'

/** Weights for a trait: one for each number of the mean state of a text, then of its vector. */
export interface JudgeWeights {
  readonly bias: number
  readonly weights: readonly number[]
}

export const judgeWeightsOf = (json: unknown): Readonly<Partial<Record<Trait, JudgeWeights>>> =>
  json as Readonly<Partial<Record<Trait, JudgeWeights>>>

/**
 * Weights of a judge of updates: for the mean state of the newer text, the cosine of both and that of what differs from the
 * `mean` of all vectors, the products of the latter, and the older text.
 */
export interface UpdateWeights {
  readonly states: readonly number[]
  readonly cosines: readonly [number, number]
  readonly mean: readonly number[]
  readonly products: readonly number[]
  readonly older: readonly number[]
}

export const updateWeightsOf = (json: unknown): UpdateWeights => json as UpdateWeights

/** Name of the file beside the sentence model, and of the value of that model that it reads. */
export interface StatesPlace {
  readonly file: string
  readonly states: string
  /** SHA-256 of the file, by name; absent: it is not checked. */
  readonly hashes?: Readonly<Record<string, string>>
}

/** Names of the files beside the sentence model, and of the value of that model from which they continue. */
export interface ReaderPlace {
  readonly layers: string
  readonly judge: string
  readonly states: string
  /** SHA-256 of the files, by name; absent: they are not checked. */
  readonly hashes?: Readonly<Record<string, string>>
}

export const placeOf = (argument: string): ModelPlace => JSON.parse(argument) as ModelPlace

/** Casts an optional module that the operator has installed. */
export const runtimeOf = (module: unknown): OnnxRuntime => defaultOf<OnnxRuntime>(module, 'InferenceSession')
export const tokenizersOf = (module: unknown): TokenizerModule => defaultOf<TokenizerModule>(module, 'Tokenizer')

/** Returns the exports of a module; those of a CommonJS module are under `default`. */
function defaultOf<T>(module: unknown, name: string): T {
  const fields = fieldsOf(module)
  return (fields.has(name) ? module : fields.get('default')) as T
}
