import type { Json } from '#storage/ports.ts'
import type { ReplacedTexts } from './redaction-tasks.ts'

/** The answer of our own worker. */
export const replacedFrom = (value: Json): ReplacedTexts => value as unknown as ReplacedTexts
