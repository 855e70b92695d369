import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readLines } from '#actors/backup/read-lines.ts'
import { chunks } from './moving.ts'

const linesOf = async (file: string, size: number): Promise<readonly string[]> => {
  const lines: string[] = []
  for await (const line of readLines(chunks(file, size))) lines.push(line.toString())
  return lines
}

it('readLines returns the same lines for any chunks, whatever characters they contain', async () => {
  const text = fc.string({ unit: 'binary' }).map((line) => line.toWellFormed().replaceAll('\n', ''))
  await fc.assert(
    fc.asyncProperty(fc.array(text), fc.integer({ min: 1, max: 9 }), async (lines, size) => {
      expect(await linesOf(lines.map((line) => `${line}\n`).join(''), size)).toEqual(lines)
    }),
  )
})

it('readLines splits at newlines only', async () => {
  expect(await linesOf('a\u2028b\rc\u2029d\u0085e\n\n', 3)).toEqual(['a\u2028b\rc\u2029d\u0085e', ''])
})

it('readLines returns no unfinished line', async () => {
  expect(await linesOf('a\nb', 1)).toEqual(['a'])
})
