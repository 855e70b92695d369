/** Wire encoding of a vector: numbers, or little-endian 32-bit floats in base64. */
export type VectorEncoding = 'float' | 'base64'

/** A vector in either encoding. */
export type WireVector = readonly number[] | string

/** Returns the vector in the requested encoding; unchanged when it is already in it. */
export function encodedAs(encoding: VectorEncoding, vector: WireVector): WireVector {
  if (encoding === 'base64') return typeof vector === 'string' ? vector : toBase64(vector)
  return typeof vector === 'string' ? fromBase64(vector) : vector
}

/** Returns the vector scaled to length 1; a zero vector is returned unchanged. */
export function unitVector(vector: readonly number[]): readonly number[] {
  // a sum, since a server may answer with more numbers than a call can have arguments
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0))
  return length === 0 ? vector : vector.map((value) => value / length)
}

function toBase64(vector: readonly number[]): string {
  const bytes = Buffer.allocUnsafe(vector.length * 4)
  for (const [place, value] of vector.entries()) bytes.writeFloatLE(value, place * 4)
  return bytes.toString('base64')
}

function fromBase64(text: string): readonly number[] {
  const bytes = Buffer.from(text, 'base64')
  return Array.from({ length: Math.floor(bytes.length / 4) }, (_, place) => bytes.readFloatLE(place * 4))
}
