import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { EmbedUse, OlderText } from '../embedder.ts'
import { KeptRows } from './kept-rows.ts'
import { LayeredSession } from './layered-session.ts'
import { LayersReader } from './layers-reader.ts'
import { checkFile, jsonOf, packageNear } from './model-files.ts'
import { PairReader, type PairReaderParts } from './pair-reader.ts'
import { readsScripts } from './read-scripts.ts'
import {
  type ModelPlace,
  type ModelSettings,
  maxPairCharacters,
  modelSettings,
  type OnnxRuntime,
  type OnnxTensor,
  type ReaderPlace,
  type ReadersOff,
  runtimeOf,
  type StatesPlace,
  type Tokenizer,
  type Trait,
  tokenizersOf,
} from './schema.ts'
import { TextJudge } from './text-judge.ts'
import { windowsOf } from './token-windows.ts'
import { UpdateJudge } from './update-judge.ts'

const modelFiles = ['model.onnx', 'onnx/model.onnx', 'model_quantized.onnx', 'onnx/model_quantized.onnx']
const maxCharacters = 16_384
/** Tokens of a text that are read; the rest is cut off. */
const maxReadTokens = 128
/** Time for one question and its texts, for texts that are judged, or for pairs, in ms. */
const maxReadMs = 250
/** Tokens of each of two texts that are read together, and the number of older texts, the likeliest, that are. */
const [maxPairTokens, maxPairs] = [48, 8]
/** What is added to the odds of older texts that were not read, so that none of them is taken for the updated one. */
const unread = -1e4
/** Numbers kept of the states of texts: 500 memories, 12 MB. */
const maxKeptNumbers = 8_192 * 384
/** Numbers kept of the meanings of texts: 256 texts. */
const maxMeaningNumbers = 256 * 768

/**
 * An ONNX sentence model from a folder in the layout of sentence-transformers, run on the CPU. The runtime and the
 * tokenizers are searched for next to the model first, then among the packages of the product.
 */
export class OnnxModel {
  readonly #runtime: OnnxRuntime
  readonly #session: LayeredSession
  readonly #tokenizer: Tokenizer
  readonly #settings: ModelSettings
  readonly #reads: (text: string) => boolean
  readonly #reader: PairReader | null
  readonly #judge: TextJudge | null
  readonly #update: UpdateJudge | null
  readonly #updateReader: LayersReader | null
  readonly #passageReader: LayersReader | null
  /** Name of the value from which these continue; null without them. */
  readonly #states: string | null
  /** States of the texts that were embedded last, so that reading one does not run the lower layers again. */
  readonly #kept = new KeptRows(maxKeptNumbers)
  /** Meanings of the texts that were judged last: a memory is judged, compared and embedded. */
  readonly #meanings = new KeptRows(maxMeaningNumbers)
  /** Length of a vector; known once the model has made one. */
  #dimensions = 0

  private constructor(parts: ModelParts) {
    this.#runtime = parts.runtime
    this.#session = parts.session
    this.#tokenizer = parts.tokenizer
    this.#settings = parts.settings
    this.#reads = parts.reads
    this.#reader = parts.reader
    this.#judge = parts.judge
    this.#update = parts.update
    this.#updateReader = parts.updateReader
    this.#passageReader = parts.passageReader
    this.#states = parts.states
    this.off = parts.off
  }

  /** Why it cannot `read` or `judge`; null when it can, or is not meant to. */
  readonly off: ReadersOff

  /** @throws {Error} when a file or a package is missing, or the model cannot be read. */
  static async open({ folder, threads, hashes = {}, reader, guard, ...place }: ModelPlace): Promise<OnnxModel> {
    const { update } = place
    await Promise.all(Object.entries(hashes).map(([name, hash]) => checkFile(join(folder, name), hash)))
    const file = modelFiles.map((name) => join(folder, name)).find((path) => existsSync(path))
    if (file === undefined) throw new Error(`no ${modelFiles[0]} in ${folder}`)
    const runtime = runtimeOf(await packageNear(folder, 'onnxruntime-node'))
    const tokenizers = tokenizersOf(await packageNear(folder, '@huggingface/tokenizers'))
    const [vocabulary, tokenizerConfig, sentence, pooling, prompts] = await Promise.all(
      [
        ...['tokenizer.json', 'tokenizer_config.json', 'sentence_bert_config.json', '1_Pooling/config.json'],
        'config_sentence_transformers.json',
      ].map((name) => jsonOf(join(folder, name))),
    )
    if (vocabulary === null) throw new Error(`no tokenizer.json in ${folder}`)
    const tokenizer = new tokenizers.Tokenizer(vocabulary, tokenizerConfig ?? {})
    const options = { intraOpNumThreads: threads, interOpNumThreads: 1, logSeverityLevel: 3 }
    const parts = { runtime, folder, options }
    const reads = await opened(reader, parts, PairReader.open)
    const judges = await opened(guard, parts, TextJudge.open)
    const compares = await opened(update, parts, UpdateJudge.open)
    const together = await opened(place.updateReader, parts, LayersReader.open)
    const suspects = await opened(place.passageReader, parts, LayersReader.open)
    const states =
      (reads.opened && reader?.states) ??
      (judges.opened && guard?.states) ??
      (compares.opened && update?.states) ??
      null
    const continued = [together.opened, suspects.opened]
    const values = [states, ...continued.map((reader) => reader?.states)].flatMap((value) => value ?? [])
    const session = await LayeredSession.open(file, {
      runtime,
      options,
      cuts: place.cuts ?? [],
      values: [...new Set(values)],
    })
    return new OnnxModel({
      ...{ reader: reads.opened, judge: judges.opened, update: compares.opened, states },
      ...{ updateReader: together.opened, passageReader: suspects.opened },
      off: {
        ...{ read: reads.off, judge: judges.off, compare: compares.off },
        ...{ together: together.off, suspect: suspects.off },
      },
      runtime,
      session,
      tokenizer,
      settings: modelSettings({ tokenizerConfig, sentence, pooling, prompts }),
      reads: readsScripts(vocabulary),
    })
  }

  /**
   * Returns vectors of length 1, in the order of the texts; of zeros for a text in a script that it does not read.
   *
   * Each text is run alone: a model in 8 bits scales its numbers by the largest in the batch, so that the vector of a
   * text would depend on the others.
   */
  async embed(texts: readonly string[], use: EmbedUse): Promise<readonly Float32Array[]> {
    const vectors: (Float32Array | null)[] = []
    for (const text of texts) vectors.push(this.#reads(text) ? await this.#vector(text, use) : null)
    this.#dimensions = vectors.find((vector) => vector !== null)?.length ?? this.#dimensions
    return vectors.map((vector) => vector ?? new Float32Array(this.#dimensions))
  }

  /**
   * Returns the logarithm of the odds that each text answers the question: of as many of the first texts as can be read
   * in time, since other questions wait meanwhile. What was read is known the next time.
   *
   * @throws {Error} without a reader.
   */
  async read(question: string, texts: readonly string[]): Promise<readonly number[]> {
    const until = performance.now() + maxReadMs
    const query = await this.#readVectors(question, 'query')
    const vectors: Float32Array[] = []
    for (const text of texts) {
      if (performance.now() > until) break
      vectors.push(await this.#readVectors(text, 'passage'))
    }
    return vectors.length === 0 ? [] : ((await this.#reader?.odds(query, vectors)) ?? [])
  }

  /**
   * Returns the logarithm of the odds that each text has a trait: of as many of the first texts as can be judged in time.
   *
   * @throws {Error} without a judge.
   */
  async judge(texts: readonly string[], trait: Trait): Promise<readonly number[]> {
    if (this.#judge === null) throw new Error('the model does not judge texts')
    const until = performance.now() + maxReadMs
    const odds: number[] = []
    for (const text of texts) {
      if (performance.now() > until) break
      odds.push(this.#judge.odds(await this.meaning(text), trait))
    }
    return odds
  }

  /**
   * Returns the logarithm of the odds that each passage of a skill would have an agent act against the one it works for: of
   * as many of the first ones as can be read in time, at least one.
   *
   * @throws {Error} without a reader of skills.
   */
  async suspect(passages: readonly string[]): Promise<readonly number[]> {
    const reader = this.#passageReader
    if (reader === null) throw new Error('the model does not read skills')
    const until = performance.now() + maxReadMs
    const odds: number[] = []
    for (const passage of passages) {
      if (odds.length > 0 && performance.now() > until) break
      const windows: number[] = []
      for (const tokens of windowsOf(this.#tokens(passage, 'passage'), this.#tokens('', 'passage')))
        windows.push(
          await reader.odds(this.#statesIn(await this.#run(tokens, reader.states), reader.states), tokens.length),
        )
      odds.push(Math.max(...windows))
    }
    return odds
  }

  /**
   * Returns the logarithm of the odds that a text updates each of the older ones. The likeliest by their vectors are read
   * together with it, as many as there is time for, before which none of the others is.
   *
   * @throws {Error} without a judge of updates.
   */
  async compare(text: string, older: readonly OlderText[]): Promise<readonly number[]> {
    if (this.#update === null) throw new Error('the model does not compare texts')
    const until = performance.now() + maxReadMs
    const vectors = older.map(({ vector }) => vector)
    const odds = [...this.#update.odds(await this.meaning(text), vectors)]
    const reader = this.#updateReader
    if (reader === null) return odds
    const likeliest = older.map((each, place) => ({ ...each, place, odds: odds[place] ?? 0 }))
    likeliest.sort((one, other) => other.odds - one.odds)
    const newer = this.#pairTokens(text)
    let read = 0
    for (const { text: other, place, odds: alone } of likeliest.slice(0, maxPairs)) {
      if (performance.now() > until) break
      odds[place] = alone + (await this.#together(reader, this.#pairTokens(other), newer))
      read++
    }
    // what is less likely by its vector is not updated because those that were read are not
    for (const { place, odds: alone } of read === 0 ? [] : likeliest.slice(read)) odds[place] = alone + unread
    return odds
  }

  #pairTokens(text: string): readonly number[] {
    return this.#readTokens(text.slice(0, maxPairCharacters), 'passage', maxPairTokens)
  }

  /** Returns what reading both texts adds to the odds that the newer one updates the older one. */
  async #together(reader: LayersReader, older: readonly number[], newer: readonly number[]): Promise<number> {
    // the end of a text separates it from the next one
    const outputs = await this.#run([...older, ...older.slice(-1), ...newer.slice(1)], reader.states)
    return await reader.odds(this.#statesIn(outputs, reader.states), older.length, newer.length)
  }

  /** Returns the mean of what the lower layers make of the first tokens of a text, then its vector. */
  async meaning(text: string): Promise<Float32Array> {
    const known = this.#meanings.get(text)
    if (known !== undefined) return known
    const tokens = this.#readTokens(text, 'passage')
    const outputs = await this.#run(tokens)
    const states = this.#statesIn(outputs)
    const vector = this.#pooled(outputs, tokens.length)
    const meaning = new Float32Array(2 * vector.length)
    meaning.set(sumOf(states, vector.length).map((sum) => sum / tokens.length))
    meaning.set(vector, vector.length)
    this.#meanings.set(text, meaning)
    this.#kept.set(`passage ${text}`, states.slice())
    return meaning
  }

  #readVectors(text: string, use: EmbedUse): Promise<Float32Array> {
    if (this.#reader === null) throw new Error('the model does not read texts')
    const key = `${use} ${text}`
    return this.#reader.vectors(key, async () => {
      const rows = this.#kept.get(key) ?? (await this.#statesOf(text, use))
      this.#kept.delete(key)
      const size = this.#dimensions
      return new this.#runtime.Tensor('float32', rows, [1, rows.length / size, size])
    })
  }

  /** Returns what the lower layers make of the first tokens of a text. */
  async #statesOf(text: string, use: EmbedUse): Promise<Float32Array> {
    return this.#statesIn(await this.#run(this.#readTokens(text, use), this.#states ?? undefined))
  }

  #readTokens(text: string, use: EmbedUse, limit = maxReadTokens): readonly number[] {
    const tokens = this.#tokens(text, use)
    return tokens.length <= limit ? tokens : [...tokens.slice(0, limit - 1), tokens.at(-1) ?? 0]
  }

  async #vector(text: string, use: EmbedUse): Promise<Float32Array> {
    const tokens = this.#tokens(text, use)
    const known = use === 'passage' && tokens.length <= maxReadTokens ? this.#meanings.get(text) : undefined
    if (known !== undefined) return known.slice(known.length / 2)
    const outputs = await this.#run(tokens)
    if (this.#states !== null && tokens.length <= maxReadTokens)
      this.#kept.set(`${use} ${text}`, this.#statesIn(outputs).slice())
    return this.#pooled(outputs, tokens.length)
  }

  #statesIn(outputs: Readonly<Record<string, OnnxTensor>>, states = this.#states ?? ''): Float32Array {
    const data = outputs[states]?.data
    if (!(data instanceof Float32Array)) throw new Error('the model has no states')
    return data
  }

  #tokens(text: string, use: EmbedUse): readonly number[] {
    const { maxTokens, prefixes } = this.#settings
    const { ids } = this.#tokenizer.encode(prefixes[use] + text.slice(0, maxCharacters).toWellFormed())
    const last = ids.at(-1)
    return ids.length <= maxTokens || last === undefined ? ids : [...ids.slice(0, maxTokens - 1), last]
  }

  /** @param upTo the value that is wanted; absent: all that the model returns. */
  async #run(tokens: readonly number[], upTo?: string): Promise<Readonly<Record<string, OnnxTensor>>> {
    const { length } = tokens
    const tensor = (data: BigInt64Array): OnnxTensor => new this.#runtime.Tensor('int64', data, [1, length])
    const inputs = {
      input_ids: tensor(BigInt64Array.from(tokens, BigInt)),
      attention_mask: tensor(new BigInt64Array(length).fill(1n)),
      token_type_ids: tensor(new BigInt64Array(length)),
    }
    return await this.#session.run(inputs, upTo)
  }

  #pooled(outputs: Readonly<Record<string, OnnxTensor>>, length: number): Float32Array {
    const name =
      ['sentence_embedding', 'last_hidden_state', ...this.#session.outputNames].find((each) => each in outputs) ?? ''
    const output = outputs[name]
    if (output === undefined || !(output.data instanceof Float32Array)) throw new Error('the model has no vectors')
    const { data, dims } = output
    const size = dims.at(-1) ?? 0
    const rows = dims.length === 2 || this.#settings.pooling === 'first' ? 1 : length
    return unit(sumOf(data.subarray(0, rows * size), size))
  }
}

interface ModelParts {
  readonly runtime: OnnxRuntime
  readonly session: LayeredSession
  readonly tokenizer: Tokenizer
  readonly settings: ModelSettings
  readonly reads: (text: string) => boolean
  readonly reader: PairReader | null
  readonly judge: TextJudge | null
  readonly update: UpdateJudge | null
  readonly updateReader: LayersReader | null
  readonly passageReader: LayersReader | null
  readonly off: ReadersOff
  readonly states: string | null
}

/** Opens a network beside the model. One that cannot be opened costs only what it would have read. */
async function opened<P extends ReaderPlace | StatesPlace, T>(
  place: P | undefined,
  parts: PairReaderParts,
  open: (parts: PairReaderParts, place: P) => Promise<T>,
): Promise<{ readonly opened: T | null; readonly off: string | null }> {
  if (place === undefined) return { opened: null, off: null }
  try {
    const hashes = Object.entries(place.hashes ?? {})
    await Promise.all(hashes.map(([name, hash]) => checkFile(join(parts.folder, name), hash)))
    return { opened: await open(parts, place), off: null }
  } catch (error) {
    return { opened: null, off: error instanceof Error ? error.message : String(error) }
  }
}

function sumOf(rows: Float32Array, size: number): Float32Array {
  const sum = new Float32Array(size)
  for (let at = 0; at < rows.length; at++) sum[at % size] = (sum[at % size] ?? 0) + (rows[at] ?? 0)
  return sum
}

function unit(vector: Float32Array): Float32Array {
  const norm = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0))
  return norm > 0 ? vector.map((value) => value / norm) : vector
}
