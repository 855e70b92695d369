/** Default length of simulated vectors. */
export const embeddingDimensions = 256

/**
 * Returns a deterministic unit vector of hashed words and character trigrams: texts with common words are close. It
 * does not capture meaning; it allows retrieval to be tried without a key.
 */
export function embedText(text: string, dimensions = embeddingDimensions): number[] {
  const vector = new Float64Array(dimensions)
  const words =
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  for (const word of words) {
    add(vector, `w:${word}`, 1)
    const padded = ` ${word} `
    for (let i = 0; i + 3 <= padded.length; i++) add(vector, `t:${padded.slice(i, i + 3)}`, 0.3)
  }
  if (words.length === 0) add(vector, 'empty', 1)
  return unit(vector)
}

/** Encodes a vector as base64 of little-endian 32-bit floats, the compact form of the wire format. */
export const encodeVector = (vector: readonly number[]): string =>
  Buffer.from(new Float32Array(vector).buffer).toString('base64')

function add(vector: Float64Array, feature: string, weight: number): void {
  const hash = fnv1a(feature)
  const place = hash % vector.length
  vector[place] = (vector[place] ?? 0) + (hash & 0x40000000 ? weight : -weight)
}

function unit(vector: Float64Array): number[] {
  let squares = 0
  for (const value of vector) squares += value * value
  const length = Math.sqrt(squares)
  const numbers = Array.from(vector)
  return length === 0 ? numbers.map((_, place) => (place === 0 ? 1 : 0)) : numbers.map((value) => value / length)
}

function fnv1a(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) {
    hash ^= text.charCodeAt(i)
    hash = Math.imul(hash, 0x01000193)
  }
  return hash >>> 0
}
