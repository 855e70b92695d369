import { isObject, type WireObject } from '#outgoing/wire.ts'

/** The cost among the usage of an answer, in USD; nothing where the price is unknown. */
export const costField = (usd: string | null): { readonly cost_usd?: number } =>
  usd === null ? {} : { cost_usd: Number(usd) }

/** The header of a whole answer that has its exact cost; none where the price is unknown. */
export const costHeader = (usd: string | null): readonly (readonly [name: string, value: string])[] =>
  usd === null ? [] : [['x-cost-usd', usd]]

/** A document of OpenAI's with the cost in its usage; the same one where there is none, or no usage. */
export const withCost = <T extends WireObject>(document: T, usd: string | null): T =>
  usd === null || !isObject(document.usage)
    ? document
    : { ...document, usage: { ...document.usage, ...costField(usd) } }

const usageKey = '"usage":'
const openingBrace = 0x7b
const blanks: ReadonlySet<number | undefined> = new Set([0x20, 0x09, 0x0a, 0x0d])

/** The same in the bytes of a document in which `usage` comes last and has fields: nothing else of a long one is written anew. */
export const bytesWithCost = (bytes: Buffer, usd: string | null): Buffer => {
  if (usd === null) return bytes
  const at = bytes.lastIndexOf(usageKey)
  let brace = at + usageKey.length
  while (at >= 0 && blanks.has(bytes[brace])) brace++
  if (at < 0 || bytes[brace] !== openingBrace) return bytes
  const field = Buffer.from(`"cost_usd":${Number(usd)},`)
  return Buffer.concat([bytes.subarray(0, brace + 1), field, bytes.subarray(brace + 1)])
}
