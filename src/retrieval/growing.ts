type Numbers = Int8Array | Uint8Array | Int32Array | Float32Array | Float64Array

const min = 16
const small = 4_096

/**
 * Returns an array with capacity for `length` numbers: the same one if it is large enough, otherwise a copy of 1.5 times
 * the size, or 3 times while it is small. Typed arrays take a tenth of the memory of objects.
 */
export function grown<T extends Numbers>(numbers: T, length: number, create: (length: number) => T): T {
  if (length <= numbers.length) return numbers
  const larger = create(Math.max(min, length, Math.ceil(numbers.length * (numbers.length < small ? 3 : 1.5))))
  larger.set(numbers)
  return larger
}

export const int8s = (length: number): Int8Array => new Int8Array(length)
export const uint8s = (length: number): Uint8Array => new Uint8Array(length)
export const int32s = (length: number): Int32Array => new Int32Array(length)
export const float32s = (length: number): Float32Array => new Float32Array(length)
export const float64s = (length: number): Float64Array => new Float64Array(length)
