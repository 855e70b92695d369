import type { JsonObject } from '#storage/index.ts'
import type { LineOutcome } from './run-line.ts'

/*
 * The functions below return values from our own commits and blobs as the type that was written. The casts are safe
 * because only this folder writes that data.
 */

/** Returns the outcome of a line that a blob has. */
export const outcomeIn = (text: string): LineOutcome => JSON.parse(text) as LineOutcome

/** Returns usage as the JSON that a commit stores. */
export const storedUsage = (metered: LineOutcome['metered']) => metered as unknown as readonly JsonObject[]
