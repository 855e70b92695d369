import type { Json } from '#storage/index.ts'
import type { ReplacedTexts } from './redaction-tasks.ts'

/** Casts a response of the redaction worker. It is trusted and not validated. */
export const replacedFrom = (value: Json): ReplacedTexts => value as unknown as ReplacedTexts
