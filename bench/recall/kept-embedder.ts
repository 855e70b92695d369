import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Embedder, EmbedUse } from '#retrieval/embedder.ts'

const bytesOfKey = 20

/**
 * Embedder that caches its vectors in a file, so that measuring a set again needs no inference. Only for tuning, since
 * searches cost less CPU than without the cache. A record consists of 20 bytes of the text's hash and the vector.
 */
export class KeptEmbedder implements Embedder {
  readonly id: string
  readonly dimensions: number
  readonly #inner: Embedder
  readonly #path: string
  readonly #known = new Map<string, Float32Array>()
  readonly #readings = new Map<string, number>()

  constructor(inner: Embedder, path: string) {
    this.id = inner.id
    this.dimensions = inner.dimensions
    this.#inner = inner
    this.#path = path
    mkdirSync(dirname(path), { recursive: true })
    if (existsSync(path)) this.#read(readFileSync(path))
  }

  async embed(texts: readonly string[], use: EmbedUse): Promise<readonly Float32Array[]> {
    const keys = texts.map((text) => this.#keyOf(text, use))
    const missing = [...new Set(keys)].filter((key) => !this.#known.has(key))
    const texts_ = missing.map((key) => texts[keys.indexOf(key)] ?? '')
    const made = missing.length === 0 ? [] : await this.#inner.embed(texts_, use)
    for (const [at, key] of missing.entries()) this.#keep(key, made[at] ?? new Float32Array(this.dimensions))
    return keys.map((key) => this.#known.get(key) ?? new Float32Array(this.dimensions))
  }

  /** Readings are kept in memory: the same question is put to scopes of several sizes. */
  async read(question: string, texts: readonly string[]): Promise<readonly number[] | null> {
    const keyOf = (text: string): string => `${question}\n${text}`
    for (;;) {
      const missing = [...new Set(texts)].filter((text) => !this.#readings.has(keyOf(text)))
      if (missing.length === 0) break
      // as many as there was time for
      const odds = (await this.#inner.read?.(question, missing)) ?? []
      if (odds.length === 0) return null
      for (const [at, each] of odds.entries()) this.#readings.set(keyOf(missing[at] ?? ''), each)
    }
    return texts.map((text) => this.#readings.get(keyOf(text)) ?? 0)
  }

  #keyOf(text: string, use: EmbedUse): string {
    return createHash('sha256').update(`${this.id}\n${use}\n${text}`).digest().subarray(0, bytesOfKey).toString('hex')
  }

  #keep(key: string, vector: Float32Array): void {
    this.#known.set(key, vector)
    const { buffer, byteOffset, byteLength } = vector
    appendFileSync(this.#path, Buffer.concat([Buffer.from(key, 'hex'), Buffer.from(buffer, byteOffset, byteLength)]))
  }

  /** Reads the records; an incomplete one, left by a crash, is skipped. */
  #read(bytes: Buffer): void {
    const size = bytesOfKey + this.dimensions * 4
    for (let at = 0; at + size <= bytes.length; at += size) {
      const vector = new Float32Array(this.dimensions)
      for (let n = 0; n < vector.length; n++) vector[n] = bytes.readFloatLE(at + bytesOfKey + n * 4)
      this.#known.set(bytes.toString('hex', at, at + bytesOfKey), vector)
    }
  }
}
