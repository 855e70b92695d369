import type { JsonObject } from '#storage/index.ts'

/*
 * Casts for data that is read back from our own commits. Only the machines write that data, and the version of a
 * machine guards its shape.
 */

/** A run's input, read back from its context. */
export const runInputOf = (text: string): JsonObject => JSON.parse(text)
