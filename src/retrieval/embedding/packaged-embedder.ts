import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Embedder, EmbedderUnavailable, type EmbedUse, type OlderText } from '../embedder.ts'
import { LocalEmbedder, ModelUnusable } from './local-embedder.ts'
import { hasRuntime } from './model-files.ts'
import type { ModelPlace, ReadersOff, Trait } from './schema.ts'

/**
 * The sentence model that belongs to the product: multilingual-e5-small (specs/decisions/0260-embedder-in-the-box.md),
 * the reader that was trained to judge memories from its ninth layer on (0310-reading-memories.md), the judge of
 * texts (0317-instructions-by-meaning.md), that of updates (0138-facts-by-rules.md) and the reader of skills (0157-skills.md).
 */
export const packagedModel: Omit<ModelPlace, 'threads'> = {
  folder: fileURLToPath(new URL('../../../models/multilingual-e5-small', import.meta.url)),
  hashes: {
    'model.onnx': '339f167dd7bbd1934a51e8b9f4b11c7bc29070a6580ea0535349953341f340c8',
    'tokenizer.json': '06e8292880d9133ac0dcc7d8288a7d2f3033aa1479bcb5bb34d5d4d685f9f054',
    'config_sentence_transformers.json': 'f8db137f231284b849582327fa0b33b4524b3a938d7f527c65047244b7c7b3af',
    'sentence_bert_config.json': '39d455ec1f2c1c49b8d2581968a071314d1f0246fc1c29a442bf2e00259edb37',
  },
  cuts: ['l7.oln', 'l8.oln'],
  reader: {
    ...{ layers: 'reader.onnx', judge: 'judge.onnx', states: 'l8.oln' },
    hashes: {
      'reader.onnx': 'd652bd9cf2b29905670dd93e60e277fcef9ae840cc121365c742cb48561c9881',
      'judge.onnx': '5b67268e48fcda8abec66f722945197ba96e21c8363dcc8097e94df037565271',
    },
  },
  update: {
    ...{ file: 'update.json', states: 'l8.oln' },
    hashes: { 'update.json': '0cc322437ee11d7ca777cac252cbae0459ef1f17878feb8051028d24a654905b' },
  },
  updateReader: {
    ...{ file: 'update.onnx', states: 'l7.oln' },
    hashes: { 'update.onnx': 'f8e1bb660c22dee3293b7d1294afe40977c648cee0d70bb1ab7b79b515e769b6' },
  },
  passageReader: {
    ...{ file: 'skills.onnx', states: 'l7.oln' },
    hashes: { 'skills.onnx': 'd6faec14c3d22ade65b146ff81db50dddb69f71456691554563401bf1e021de5' },
  },
  guard: {
    ...{ file: 'guard.json', states: 'l8.oln' },
    hashes: { 'guard.json': '8a50686aaa5353556dba67ae78a2b269b4138ad6cb80df9b1b078679b109ffb4' },
  },
}

/** Time that a question waits for the model to open, in ms; it is answered by words after that. */
const maxWaitMs = 2_000

export interface PackagedParts {
  readonly place: ModelPlace
  /** Called once with the reason, when the model cannot be opened. */
  readonly off: (reason: string) => void
  /** Called with the reasons, when only the networks beside it cannot be opened. */
  readonly readersOff?: (off: ReadersOff) => void
}

/**
 * A local model that is opened when the first text is embedded, so that a server that embeds nothing does not pay for
 * it. If that is not possible, it is off for good, and texts are found by their words.
 */
export class PackagedEmbedder implements Embedder {
  readonly #parts: PackagedParts
  readonly #local: LocalEmbedder
  #isOff = false
  #hasOpened = false

  constructor(parts: PackagedParts) {
    this.#parts = parts
    this.#local = new LocalEmbedder(parts.place, parts.readersOff)
    const missing = missingIn(parts.place)
    if (missing !== null) this.#end(missing)
  }

  get id(): string {
    return this.#local.id
  }

  get dimensions(): number {
    return this.#local.dimensions
  }

  get isOff(): boolean {
    return this.#isOff
  }

  async embed(texts: readonly string[], use: EmbedUse): Promise<readonly Float32Array[]> {
    if (this.#isOff) throw new EmbedderUnavailable('the embedder is off')
    const embedding = this.#embedded(texts, use)
    if (this.#hasOpened || use === 'passage') return embedding
    return await inTime(embedding)
  }

  /** Returns null while the model opens: a question does not wait for it twice. */
  async read(question: string, texts: readonly string[]): Promise<readonly number[] | null> {
    return this.#isOff || !this.#hasOpened ? null : await this.#local.read(question, texts)
  }

  /** Waits until the model is open, except for instructions: a write does not, and gets null. */
  async judge(texts: readonly string[], trait: Trait = 'instructions'): Promise<readonly number[] | null> {
    if (this.#isOff) return null
    if (!this.#hasOpened) {
      const opening = this.#embedded(['probe'], 'query').catch(() => undefined)
      if (trait === 'instructions') return null
      await opening
    }
    return this.#isOff || !this.#hasOpened ? null : await this.#local.judge(texts, trait)
  }

  /** Returns null until the model is open. */
  async compare(text: string, older: readonly OlderText[]): Promise<readonly number[] | null> {
    return this.#isOff || !this.#hasOpened ? null : await this.#local.compare(text, older)
  }

  /** Waits until the model is open. */
  async suspect(passages: readonly string[]): Promise<readonly number[] | null> {
    if (!this.#isOff && !this.#hasOpened) await this.#embedded(['probe'], 'query').catch(() => undefined)
    return this.#isOff || !this.#hasOpened ? null : await this.#local.suspect(passages)
  }

  close(): Promise<void> {
    return this.#local.close()
  }

  async #embedded(texts: readonly string[], use: EmbedUse): Promise<readonly Float32Array[]> {
    try {
      const vectors = await this.#local.embed(texts, use)
      this.#hasOpened = true
      return vectors
    } catch (error) {
      if (error instanceof EmbedderUnavailable && error.cause instanceof ModelUnusable) this.#end(error.cause.message)
      throw error
    }
  }

  #end(reason: string): void {
    if (this.#isOff) return
    this.#isOff = true
    this.#parts.off(reason)
  }
}

/** Names a file or a package without which the model cannot be opened. */
const missingIn = ({ folder, hashes = {} }: ModelPlace): string | null => {
  const file = Object.keys(hashes).find((name) => !existsSync(join(folder, name)))
  if (file !== undefined) return `there is no ${join(folder, file)}`
  return hasRuntime(folder) ? null : 'the package onnxruntime-node is not installed'
}

/** @throws {EmbedderUnavailable} when the vectors are not there in time; they are still computed. */
async function inTime<T>(vectors: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new EmbedderUnavailable('the embedder is opening')), maxWaitMs)
  try {
    return await Promise.race([vectors, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
