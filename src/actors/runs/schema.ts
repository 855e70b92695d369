import type { JsonObject } from '#storage/ports.ts'

/*
 * What our own commits hold comes back as the type that was written: they are written by the machines only, and a
 * machine's version guards their shape.
 */

/** A run's input, read back from its context. */
export const runInputOf = (text: string): JsonObject => JSON.parse(text)
