import { invalidField } from '#specs/errors/invalid-field.ts'
import type { EmbeddingInput } from './embedding-format.ts'

/** Returns texts to embed in batches of at most `max`. @throws {ServiceError} `invalid_field` for tokens. */
export const textBatches = (inputs: readonly EmbeddingInput[], max: number): readonly (readonly string[])[] => {
  const texts = inputs.map(textIn)
  return Array.from({ length: Math.ceil(texts.length / max) }, (_, at) => texts.slice(at * max, (at + 1) * max))
}

const textIn = (input: EmbeddingInput): string => {
  if (typeof input === 'string') return input
  throw invalidField('input', 'This provider accepts texts, not tokens.')
}
