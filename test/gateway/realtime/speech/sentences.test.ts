import { describe, expect, it } from 'vitest'
import { Sentences } from '#gateway/realtime/speech/sentences.ts'

const said = (...deltas: readonly string[]): readonly string[] => {
  const sentences = new Sentences()
  return [...deltas.flatMap((delta) => sentences.push(delta)), sentences.rest()]
}

describe('the sentences of an answer', () => {
  it('are whole as soon as the next one begins', () => {
    expect(said('Hello the', 're, Ada. How are', ' you today? Fine')).toEqual([
      'Hello there, Ada. ',
      'How are you today? ',
      'Fine',
    ])
  })

  it('are not cut within a number, nor for one word', () => {
    expect(said('It costs 3.', '50 dollars in all. ', 'Yes. Really.')).toEqual([
      'It costs 3.50 dollars in all. ',
      'Yes. Really.',
    ])
  })

  it('are cut at the end of a word where they never end', () => {
    const parts = said('word '.repeat(200))
    expect([parts.length > 3, parts.every((part) => part.length <= 240), parts.join('')]).toEqual([
      true,
      true,
      'word '.repeat(200),
    ])
  })
})
