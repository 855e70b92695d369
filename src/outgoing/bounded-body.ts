/** The body of an answer, up to a limit. */
export interface BoundedBody {
  /** At most `maxBytes`. */
  readonly bytes: Buffer
  /** Whether the body was longer; the rest was discarded. */
  readonly isCut: boolean
}

/** How a body is read. */
export interface BoundedOptions {
  readonly maxBytes: number
  /** Whether a body that breaks off is returned as far as it arrived; otherwise its error is thrown. */
  readonly partial?: boolean
}

/** Collects bytes up to a limit. */
export class BoundedBytes {
  readonly #maxBytes: number
  readonly #parts: Uint8Array[] = []
  #size = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** @returns false when the limit is exceeded. */
  push(part: Uint8Array): boolean {
    if (this.#size <= this.#maxBytes) this.#parts.push(part)
    this.#size += part.length
    return this.#size <= this.#maxBytes
  }

  /** The collected bytes, at most the limit. */
  get bytes(): Buffer {
    const [first] = this.#parts
    if (first instanceof Buffer && this.#parts.length === 1) return first.subarray(0, this.#maxBytes)
    return Buffer.concat(this.#parts).subarray(0, this.#maxBytes)
  }
}

/** Reads a body to its end, or up to a limit, where the connection is closed. */
export const boundedBody = async (
  body: AsyncIterable<Uint8Array> & { destroy(): unknown },
  { maxBytes, partial = false }: BoundedOptions,
): Promise<BoundedBody> => {
  const gathered = new BoundedBytes(maxBytes)
  try {
    for await (const part of body) {
      if (gathered.push(part)) continue
      body.destroy()
      return { bytes: gathered.bytes, isCut: true }
    }
  } catch (error) {
    if (!partial) throw error
  }
  return { bytes: gathered.bytes, isCut: false }
}
