import { createHash } from 'node:crypto'
import type { Upload } from '#machines/knowledge-source/knowledge-source.ts'
import { actorBlobs } from '#runtime/blobs/blob-owner.ts'
import { newId, timeOfId } from '#runtime/ids.ts'
import type { BlobStore } from '#storage/ports.ts'

/** A source whose content is kept. */
export interface BlobOwner {
  readonly project: string
  readonly tenant: string | null
  readonly source: string
}

/** What a blob holds: content of a request, extracted text, chunks, or vectors. */
export type BlobKind = 'raw' | 'txt' | 'chk' | 'vec'

/** Characters of one blob: four bytes each at most, below what a store takes. */
const partLength = 1_000_000
/** Bytes of one blob in base64: a multiple of three, so that parts are decoded each by itself. */
const partBytes = 3 * 512 * 1024
/** A request that stored its content is given so long to name it, in ms. */
const unnamedMs = 10 * 60_000
const pageSize = 200

/** Contents of sources, as parts in the blob store under the source's own prefix: they go with the source and its tenant. */
export class SourceBlobs {
  readonly #blobs: BlobStore
  readonly #now: () => number

  constructor(blobs: BlobStore, now: () => number) {
    this.#blobs = blobs
    this.#now = now
  }

  /** Stores text. Again: nothing more. @returns names in order. @throws {StoreUnavailable} */
  async putText(owner: BlobOwner, kind: BlobKind, text: string): Promise<readonly string[]> {
    const names: string[] = []
    for (let start = 0; start < text.length; ) {
      const end = splitAt(text, start + partLength)
      names.push(await this.#put(owner, kind, text.slice(start, end)))
      start = end
    }
    return names
  }

  /** Stores text of a bounded length in one part. @throws {StoreUnavailable} */
  putWhole(owner: BlobOwner, kind: BlobKind, text: string): Promise<string> {
    return this.#put(owner, kind, text)
  }

  /** Stores what follows from a key, under the key. @throws {StoreUnavailable} */
  async putKeyed(owner: BlobOwner, kind: BlobKind, { key, text }: { readonly key: string; readonly text: string }) {
    const name = keyedName(owner, kind, key)
    await this.#blobs.put(owner.project, name, text)
    return name
  }

  /** What was stored under a key; null for nothing. @throws {StoreUnavailable} */
  async keyed(owner: BlobOwner, kind: BlobKind, key: string): Promise<{ name: string; text: string } | null> {
    const name = keyedName(owner, kind, key)
    const text = await this.#blobs.get(owner.project, name)
    return text === null ? null : { name, text }
  }

  /** @throws {StoreUnavailable} {BlobGone} */
  async text(owner: BlobOwner, names: readonly string[]): Promise<string> {
    const parts: string[] = []
    for (const name of names) parts.push(await this.#get(owner, name))
    return parts.join('')
  }

  /** Stores what a request brought, under a name of its own: what becomes of an earlier upload takes nothing of it. */
  async putUpload(
    owner: BlobOwner,
    bytes: Uint8Array,
    { mime_type, filename }: Pick<Upload, 'mime_type' | 'filename'>,
  ): Promise<Upload> {
    const upload = newId('upl')
    const parts: string[] = []
    for (let start = 0; start < bytes.length; start += partBytes) {
      const part = Buffer.from(bytes.subarray(start, start + partBytes)).toString('base64')
      parts.push(await this.#put(owner, `raw.${upload}`, part))
    }
    const checksum = createHash('sha256').update(bytes).digest('hex')
    return { mime_type, filename, checksum, size_bytes: bytes.length, encoding: 'base64', parts }
  }

  /** @throws {StoreUnavailable} {BlobGone} */
  async upload(owner: BlobOwner, { parts }: Pick<Upload, 'parts'>): Promise<Uint8Array> {
    const bytes: Buffer[] = []
    for (const name of parts) bytes.push(Buffer.from(await this.#get(owner, name), 'base64'))
    return Buffer.concat(bytes)
  }

  /** Removes all that the source does not name any more. @throws {StoreUnavailable} */
  async keepOnly(owner: BlobOwner, names: readonly string[]): Promise<void> {
    const kept = new Set(names)
    const prefix = prefixOf(owner)
    for (let after = prefix; ; ) {
      const page = await this.#blobs.hashes(owner.project, after, pageSize)
      for (const name of page) {
        if (!name.startsWith(prefix)) return
        if (!kept.has(name) && !this.#isComing(name.slice(prefix.length))) await this.#blobs.remove(owner.project, name)
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

/** The source has something newer by now, or is gone. */
export class BlobGone extends Error {
  override readonly name = 'BlobGone'
}

const prefixOf = ({ tenant, source }: BlobOwner): string => actorBlobs({ tenant, actor: source })

const keyedName = (owner: BlobOwner, kind: BlobKind, key: string): string =>
  `${prefixOf(owner)}${kind}.${createHash('sha256').update(key).digest('hex')}`

/** Between two characters, not within one. */
const splitAt = (text: string, at: number): number => {
  if (at >= text.length) return text.length
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00 ? at - 1 : at
}
