import { isObject, type WireObject } from '#outgoing/wire.ts'

/** The `cost_usd` field for the usage of an answer; empty when the price is unknown. */
export const costField = (usd: string | null): { readonly cost_usd?: number } =>
  usd === null ? {} : { cost_usd: Number(usd) }

/** The header of a non-streamed answer with its exact cost; empty when the price is unknown. */
export const costHeader = (usd: string | null): readonly (readonly [name: string, value: string])[] =>
  usd === null ? [] : [['x-cost-usd', usd]]

/**
 * Returns an OpenAI document with the cost added to its usage; the same document when the price is unknown or it has no
 * usage.
 */
export const withCost = <T extends WireObject>(document: T, usd: string | null): T =>
  usd === null || !isObject(document.usage)
    ? document
    : { ...document, usage: { ...document.usage, ...costField(usd) } }

/**
 * Adds the cost to the bytes of an OpenAI document, which are otherwise unchanged; null when the document has to be
 * encoded again, because its usage cannot be found for certain.
 *
 * @param document parsed from `bytes`.
 */
export const wholeWithCost = (bytes: Buffer, document: WireObject, usd: string | null): Buffer | null => {
  const { usage } = document
  if (usd === null || !isObject(usage)) return bytes
  const isFirst = usage.cost_usd === undefined && Object.keys(usage).length > 0
  if (!isFirst || bytes.indexOf(usageKey) !== bytes.lastIndexOf(usageKey)) return null
  const made = bytesWithCost(bytes, usd)
  return made === bytes ? null : made
}

const usageKey = '"usage":'
const openingBrace = 0x7b
const blanks: ReadonlySet<number | undefined> = new Set([0x20, 0x09, 0x0a, 0x0d])

/**
 * Adds the cost to an encoded document in which `usage` comes last and has fields. The bytes are spliced, so that a
 * long document is not encoded again.
 */
export const bytesWithCost = (bytes: Buffer, usd: string | null): Buffer => {
  if (usd === null) return bytes
  const at = bytes.lastIndexOf(usageKey)
  let brace = at + usageKey.length
  while (at >= 0 && blanks.has(bytes[brace])) brace++
  if (at < 0 || bytes[brace] !== openingBrace) return bytes
  const field = Buffer.from(`"cost_usd":${Number(usd)},`)
  return Buffer.concat([bytes.subarray(0, brace + 1), field, bytes.subarray(brace + 1)])
}
