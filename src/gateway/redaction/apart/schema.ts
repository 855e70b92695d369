import type { Json } from '#storage/ports.ts'
import type { Hit } from '../recognisers/recogniser.ts'

/** The answer of our own worker: the hits of each text. */
export const hitsFrom = (value: Json): readonly (readonly Hit[])[] => value as unknown as readonly (readonly Hit[])[]
