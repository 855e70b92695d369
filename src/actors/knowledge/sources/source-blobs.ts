import { createHash } from 'node:crypto'
import type { Upload } from '#machines/knowledge-source/knowledge-source.ts'
import { newId, timeOfId } from '#runtime/index.ts'
import { actorBlobs } from '#runtime/internal.ts'
import type { BlobStore } from '#storage/index.ts'

/** The source that blobs belong to. */
export interface BlobOwner {
  readonly project: string
  readonly tenant: string | null
  readonly source: string
}

/** Kinds of blobs: content of a request, extracted text, chunks, vectors. */
export type BlobKind = 'raw' | 'txt' | 'chk' | 'vec'

/** Maximum number of characters in one blob: at up to four bytes each, this is below the size limit of the stores. */
const partLength = 1_000_000
/** Bytes in one base64 blob: a multiple of three, so that each part can be decoded separately. */
const partBytes = 3 * 512 * 1024
/** Time in ms during which stored content is kept although its source does not reference it yet. */
const unnamedMs = 10 * 60_000
const pageSize = 200

/** Contents of sources, stored as blobs under the prefix of their source, and deleted with it or its tenant. */
export class SourceBlobs {
  readonly #blobs: BlobStore
  readonly #now: () => number

  constructor(blobs: BlobStore, now: () => number) {
    this.#blobs = blobs
    this.#now = now
  }

  /**
   * Stores text in parts. Storing the same text again adds nothing.
   *
   * @returns the names in order.
   * @throws {StoreUnavailable}
   */
  async putText(owner: BlobOwner, kind: BlobKind, text: string): Promise<readonly string[]> {
    const names: string[] = []
    for (let start = 0; start < text.length; ) {
      const end = splitAt(text, start + partLength)
      names.push(await this.#put(owner, kind, text.slice(start, end)))
      start = end
    }
    return names
  }

  /** Stores a short text in a single part. @throws {StoreUnavailable} */
  putWhole(owner: BlobOwner, kind: BlobKind, text: string): Promise<string> {
    return this.#put(owner, kind, text)
  }

  /** Stores a text that is derived from a key, under that key. @throws {StoreUnavailable} */
  async putKeyed(owner: BlobOwner, kind: BlobKind, { key, text }: { readonly key: string; readonly text: string }) {
    const name = keyedName(owner, kind, key)
    await this.#blobs.put(owner.project, name, text)
    return name
  }

  /** Returns the text stored under a key; null when there is none. @throws {StoreUnavailable} */
  async keyed(owner: BlobOwner, kind: BlobKind, key: string): Promise<{ name: string; text: string } | null> {
    const name = keyedName(owner, kind, key)
    const text = await this.#blobs.get(owner.project, name)
    return text === null ? null : { name, text }
  }

  /** Yields the texts of these parts. @throws {StoreUnavailable} {BlobGone} */
  async *texts(owner: BlobOwner, names: readonly string[]): AsyncGenerator<string> {
    for (const name of names) yield await this.#get(owner, name)
  }

  /** Returns the text of these parts, joined. @throws {StoreUnavailable} {BlobGone} */
  async text(owner: BlobOwner, names: readonly string[]): Promise<string> {
    const parts: string[] = []
    for (const name of names) parts.push(await this.#get(owner, name))
    return parts.join('')
  }

  /** As `text`; null when a part is gone. @throws {StoreUnavailable} */
  async textIfThere(owner: BlobOwner, names: readonly string[]): Promise<string | null> {
    try {
      return await this.text(owner, names)
    } catch (error) {
      if (error instanceof BlobGone) return null
      throw error
    }
  }

  /**
   * Stores content under new names, so that the removal of an earlier upload does not affect it. What was stored of
   * content that breaks off is removed.
   */
  async putUpload(
    owner: BlobOwner,
    bytes: Uint8Array | AsyncIterable<Uint8Array>,
    { mime_type, filename }: Pick<Upload, 'mime_type' | 'filename'>,
  ): Promise<Upload> {
    const upload = newId('upl')
    const hash = createHash('sha256')
    const parts: string[] = []
    let size_bytes = 0
    try {
      for await (const part of bytes instanceof Uint8Array ? partsOf(bytes) : bytes) {
        hash.update(part)
        size_bytes += part.length
        parts.push(await this.#put(owner, `raw.${upload}`, Buffer.from(part).toString('base64')))
      }
    } catch (error) {
      for (const name of parts) await this.#blobs.remove(owner.project, name)
      throw error
    }
    return { mime_type, filename, checksum: hash.digest('hex'), size_bytes, encoding: 'base64', parts }
  }

  /** Returns the bytes of an upload. @throws {StoreUnavailable} {BlobGone} */
  async upload(owner: BlobOwner, { parts }: Pick<Upload, 'parts'>): Promise<Uint8Array> {
    const bytes: Buffer[] = []
    for (const name of parts) bytes.push(Buffer.from(await this.#get(owner, name), 'base64'))
    return Buffer.concat(bytes)
  }

  /**
   * Removes all blobs that the source no longer references.
   *
   * @param signal aborted when the source may be read anew: what is stored then is not known here.
   * @throws {StoreUnavailable}
   */
  async keepOnly(owner: BlobOwner, names: readonly string[], signal: AbortSignal): Promise<void> {
    const kept = new Set(names)
    const { length } = prefixOf(owner)
    for await (const name of this.#namesOf(owner)) {
      if (signal.aborted) return
      if (!kept.has(name) && !this.#isComing(name.slice(length))) await this.#blobs.remove(owner.project, name)
    }
  }

  /** Whether all of these blobs exist. @throws {StoreUnavailable} */
  async has(owner: BlobOwner, names: readonly string[]): Promise<boolean> {
    const missing = new Set(names)
    for await (const name of this.#namesOf(owner)) missing.delete(name)
    return missing.size === 0
  }

  async *#namesOf(owner: BlobOwner): AsyncGenerator<string> {
    const prefix = prefixOf(owner)
    for (let after = prefix; ; ) {
      const page = await this.#blobs.hashes(owner.project, after, pageSize)
      for (const name of page) {
        if (!name.startsWith(prefix)) return
        yield name
      }
      const last = page.at(-1)
      if (last === undefined || page.length < pageSize) return
      after = last
    }
  }

  #isComing(name: string): boolean {
    const [kind, upload = ''] = name.split('.')
    if (kind !== 'raw') return !['txt', 'chk', 'vec'].includes(kind ?? '')
    return this.#now() - (timeOfId(upload) ?? 0) < unnamedMs
  }

  async #put(owner: BlobOwner, kind: string, content: string): Promise<string> {
    const name = `${prefixOf(owner)}${kind}.${createHash('sha256').update(content).digest('hex')}`
    await this.#blobs.put(owner.project, name, content)
    return name
  }

  async #get({ project }: BlobOwner, name: string): Promise<string> {
    const content = await this.#blobs.get(project, name)
    if (content === null) throw new BlobGone(name)
    return content
  }
}

/** Thrown when a blob no longer exists: its source has newer content, or has been removed. */
export class BlobGone extends Error {
  override readonly name = 'BlobGone'
}

const prefixOf = ({ tenant, source }: BlobOwner): string => actorBlobs({ tenant, actor: source })

const keyedName = (owner: BlobOwner, kind: BlobKind, key: string): string =>
  `${prefixOf(owner)}${kind}.${createHash('sha256').update(key).digest('hex')}`

function* partsOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += partBytes) yield bytes.subarray(start, start + partBytes)
}

/** Returns `at`, or the index before it when `at` would split a surrogate pair. */
const splitAt = (text: string, at: number): number => {
  if (at >= text.length) return text.length
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00 ? at - 1 : at
}
