import type { Redacted, RedactionPolicy } from '../call/redaction.ts'

/** Characters of a request that are read on the loop; the slowest that were found take some 30 ms. */
export const maxOnLoop = 64 * 1024

/** Texts of a request as a policy has them: at once, or from a worker where they would hold the loop. */
export const redacted = (
  policy: RedactionPolicy,
  texts: readonly string[],
  toolArguments: readonly string[] = [],
): Redacted | Promise<Redacted> =>
  lengthOf(texts) + lengthOf(toolArguments) <= maxOnLoop
    ? policy.redact(texts, toolArguments)
    : policy.redactApart(texts, toolArguments)

const lengthOf = (texts: readonly string[]): number => {
  let sum = 0
  for (const { length } of texts) sum += length
  return sum
}
