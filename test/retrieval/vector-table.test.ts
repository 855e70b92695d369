import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dotProducts } from '#retrieval/dot-products.ts'
import { wasmParts } from '#retrieval/schema.ts'
import { VectorTable } from '#retrieval/vector-table.ts'

const vectorOf = (dimensions: number) =>
  fc
    .array(fc.integer({ min: -1_000, max: 1_000 }), { minLength: dimensions, maxLength: dimensions })
    .map((numbers) => Float32Array.from(numbers))

const tables = fc
  .constantFrom(1, 3, 8, 12, 16, 40, 384)
  .chain((dimensions) =>
    fc.tuple(fc.array(fc.option(vectorOf(dimensions), { freq: 4 }), { maxLength: 20 }), vectorOf(dimensions)),
  )

const oneByOne = (table: VectorTable, vector: Float32Array, count: number): Float32Array => {
  const query = table.query(vector)
  return Float32Array.from({ length: count }, (_, slot) => (query === null ? 0 : table.cosine(slot, query)))
}

const together = (table: VectorTable, vector: Float32Array, { count, from }: { count: number; from: number }) => {
  const query = table.query(vector)
  const cosines = new Float32Array(count)
  if (query !== null) table.cosines(query, cosines, { from: 0, to: Math.min(from, count) })
  if (query !== null && from < count) table.cosines(query, cosines, { from, to: count })
  return cosines
}

describe('the cosines of many vectors', () => {
  it('are computed by vector instructions on this platform', () => {
    expect(dotProducts()?.maxRows(384)).toBeGreaterThan(256)
    expect(dotProducts()?.maxRows(12)).toBe(0)
    expect(dotProducts()?.maxRows(8_192)).toBe(0)
  })

  it('are computed by a plain loop on a platform without these instructions', () => {
    expect(wasmParts(Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 10, 1]))).toEqual({ dots: null, memory: null })
  })

  it('equal single cosines bit by bit, also for slots without a vector and beyond the table', () => {
    fc.assert(
      fc.property(tables, fc.nat(20), ([vectors, question], from) => {
        const table = new VectorTable()
        for (const [slot, vector] of vectors.entries()) table.set(slot, vector)
        const count = vectors.length + 3
        expect(together(table, question, { count, from })).toEqual(oneByOne(table, question, count))
      }),
    )
  })

  it('do not overflow for the largest numbers', () => {
    const table = new VectorTable()
    const vector = new Float32Array(4_096).fill(1)
    for (let slot = 0; slot < 100; slot++) table.set(slot, slot % 2 === 0 ? vector : vector.map((value) => -value))
    const cosines = together(table, vector, { count: 100, from: 7 })
    expect(cosines).toEqual(oneByOne(table, vector, 100))
    expect(cosines[0]).toBeCloseTo(1, 5)
    expect(cosines[1]).toBeCloseTo(-1, 5)
  })

  it('are correct in a table of thousands with removed vectors', () => {
    const table = new VectorTable()
    for (let slot = 0; slot < 3_000; slot++)
      table.set(
        slot,
        Float32Array.from({ length: 64 }, (_, at) => Math.sin(slot * 64 + at)),
      )
    for (let slot = 0; slot < 3_000; slot += 7) table.delete(slot)
    const question = Float32Array.from({ length: 64 }, (_, at) => Math.cos(at))
    expect(together(table, question, { count: 3_000, from: 1_024 })).toEqual(oneByOne(table, question, 3_000))
  })
})
