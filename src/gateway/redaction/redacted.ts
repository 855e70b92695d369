import type { Redacted, RedactionPolicy } from '../call/redaction.ts'

/**
 * Longest request, in characters, that is redacted on the event loop; the slowest known input of this size takes about
 * 30 ms.
 */
export const maxOnLoop = 64 * 1024

/** Redacts the texts of a request by a policy: synchronously, or in a worker where they would block the event loop. */
export const redacted = (
  policy: RedactionPolicy,
  texts: readonly string[],
  toolArguments: readonly string[] = [],
): Redacted | Promise<Redacted> =>
  lengthOf(texts) + lengthOf(toolArguments) <= maxOnLoop
    ? policy.redact(texts, toolArguments)
    : policy.redactInBackground(texts, toolArguments)

const lengthOf = (texts: readonly string[]): number => {
  let sum = 0
  for (const { length } of texts) sum += length
  return sum
}
