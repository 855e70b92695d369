import type { Json } from '#storage/index.ts'
import type { Finding } from '../scan.ts'

/** Casts a response of the worker. It is trusted and not validated. */
export const findingsFrom = (value: Json): readonly Finding[] => value as unknown as readonly Finding[]
