import { inflateRawSync } from 'node:zlib'

/** Bytes that all entries may have together once they are unpacked. */
const maxUnpackedBytes = 64 * 1024 * 1024

const endOfDirectory = 0x06054b50
const directoryEntry = 0x02014b50
const localHeader = 0x04034b50
const maxCommentBytes = 0xffff

/** The archive is none, or is not read. */
export class BadArchive extends Error {
  override readonly name = 'BadArchive'
}

/**
 * Entries of a zip archive by their names. Nothing is unpacked before it is requested, and never more than 64 MB in all,
 * whatever the headers say. @throws {BadArchive}
 */
export class ZipEntries {
  readonly #bytes: Buffer
  readonly #places = new Map<string, { readonly header: number; readonly packed: number; readonly method: number }>()
  #unpacked = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    let at = this.#directory()
    for (; at + 46 <= this.#bytes.length && this.#bytes.readUInt32LE(at) === directoryEntry; ) {
      const nameLength = this.#bytes.readUInt16LE(at + 28)
      const name = this.#bytes.toString('utf8', at + 46, at + 46 + nameLength)
      this.#places.set(name, {
        header: this.#bytes.readUInt32LE(at + 42),
        packed: this.#bytes.readUInt32LE(at + 20),
        method: this.#bytes.readUInt16LE(at + 10),
      })
      at += 46 + nameLength + this.#bytes.readUInt16LE(at + 30) + this.#bytes.readUInt16LE(at + 32)
    }
  }

  /** The entry as text; null when there is none. @throws {BadArchive} */
  text(name: string): string | null {
    const place = this.#places.get(name)
    if (place === undefined) return null
    const { header, packed, method } = place
    if (header + 30 > this.#bytes.length || this.#bytes.readUInt32LE(header) !== localHeader) throw broken()
    const start = header + 30 + this.#bytes.readUInt16LE(header + 26) + this.#bytes.readUInt16LE(header + 28)
    const content = this.#bytes.subarray(start, start + packed)
    const bytes = method === 0 ? content : this.#inflated(content, method)
    this.#unpacked += bytes.length
    return bytes.toString('utf8')
  }

  #inflated(content: Buffer, method: number): Buffer {
    if (method !== 8) throw new BadArchive('the archive is packed in a way that is not read')
    try {
      return inflateRawSync(content, { maxOutputLength: Math.max(1, maxUnpackedBytes - this.#unpacked) })
    } catch (error) {
      throw new BadArchive('an entry of the archive is broken or too large', { cause: error })
    }
  }

  #directory(): number {
    const last = this.#bytes.length - 22
    for (let at = last; at >= 0 && at >= last - maxCommentBytes; at--) {
      if (this.#bytes.readUInt32LE(at) === endOfDirectory) return this.#bytes.readUInt32LE(at + 16)
    }
    throw broken()
  }
}

const broken = (): BadArchive => new BadArchive('the file is no archive')
