/** What of the runtime for ONNX models is used. */
export interface OnnxRuntime {
  readonly InferenceSession: {
    create(path: string, options: Readonly<Record<string, unknown>>): Promise<OnnxSession>
  }
  readonly Tensor: new (type: 'int64', data: BigInt64Array, dims: readonly number[]) => OnnxTensor
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

/** What of the tokenizers is used. */
export interface TokenizerModule {
  readonly Tokenizer: new (model: unknown, config: unknown) => Tokenizer
}

export interface Tokenizer {
  encode(text: string): { readonly ids: readonly number[] }
}

/** What the files of a model say of how it is used. */
export interface ModelSettings {
  /** Tokens of a text; the rest is cut off. */
  readonly mostTokens: number
  readonly pooling: 'mean' | 'first'
  /** What is put before a text, by its use. */
  readonly prefixes: { readonly query: string; readonly passage: string }
}

type Fields = ReadonlyMap<string, unknown>

const fieldsOf = (value: unknown): Fields =>
  new Map(typeof value === 'object' && value !== null ? Object.entries(value) : [])

const numberOf = (value: unknown): number | null =>
  typeof value === 'number' && value > 0 && value < 1e6 ? value : null

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Files of a model as sentence-transformers write them; each may be missing, `null` then. */
export interface ModelFiles {
  readonly tokenizerConfig: unknown
  readonly sentence: unknown
  readonly pooling: unknown
  readonly prompts: unknown
}

/** Reads the settings out of the files of a model; without them those of most sentence models. */
export function modelSettings({ tokenizerConfig, sentence, pooling, prompts }: ModelFiles): ModelSettings {
  const given = fieldsOf(fieldsOf(prompts).get('prompts'))
  const declared =
    numberOf(fieldsOf(sentence).get('max_seq_length')) ?? numberOf(fieldsOf(tokenizerConfig).get('model_max_length'))
  return {
    mostTokens: Math.min(declared ?? 256, 512),
    pooling: fieldsOf(pooling).get('pooling_mode_cls_token') === true ? 'first' : 'mean',
    prefixes: { query: textOf(given.get('query')), passage: textOf(given.get('passage') ?? given.get('document')) },
  }
}

/** A request to the process of the model. */
export interface EmbedRequest {
  readonly id: number
  readonly texts: readonly string[]
  readonly use: 'query' | 'passage'
}

/** What the process says: that its model is open or cannot be opened, or what became of a request. */
export type EmbedReply =
  | { readonly kind: 'open'; readonly dimensions: number }
  | { readonly kind: 'closed'; readonly reason: string }
  | { readonly kind: 'embedded'; readonly id: number; readonly vectors: readonly Float32Array[] }
  | { readonly kind: 'failed'; readonly id: number; readonly reason: string }

/** Takes a message of our own process for what it is. */
export const replyOf = (message: unknown): EmbedReply => message as EmbedReply
export const requestOf = (message: unknown): EmbedRequest => message as EmbedRequest

/** What the process is started with. */
export interface ModelPlace {
  readonly folder: string
  readonly threads: number
}

export const placeOf = (argument: string): ModelPlace => JSON.parse(argument) as ModelPlace

/** A module that is there only when the operator put it there. */
export const runtimeOf = (module: unknown): OnnxRuntime => defaultOf<OnnxRuntime>(module, 'InferenceSession')
export const tokenizersOf = (module: unknown): TokenizerModule => defaultOf<TokenizerModule>(module, 'Tokenizer')

/** A CommonJS module has its exports below `default`. */
function defaultOf<T>(module: unknown, name: string): T {
  const fields = fieldsOf(module)
  return (fields.has(name) ? module : fields.get('default')) as T
}
