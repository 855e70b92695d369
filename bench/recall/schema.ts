type Json = unknown
type Fields = Readonly<Record<string, Json>>

/** Reads a value of a public data set; a missing or mistyped value is read as empty. */
export const fields = (value: Json): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})
export const items = (value: Json): readonly Json[] => (Array.isArray(value) ? (value as readonly Json[]) : [])
export const text = (value: Json): string => (typeof value === 'string' ? value : '')
export const number = (value: Json): number => (typeof value === 'number' ? value : 0)

/** Hits of a search, best first. */
export interface Found {
  readonly hits: readonly { readonly id: string; readonly score: number }[]
}

/** Hits in an answer of `memory.search`. */
export const foundIn = (answer: Json): Found['hits'] =>
  items(fields(answer).results).map((hit) => ({ id: text(fields(hit).id), score: number(fields(hit).score) }))

/** Ids in an answer of `memory.write_batch`, in order. */
export const writtenIn = (answer: Json): readonly string[] =>
  items(fields(answer).memories).map((written) => text(fields(written).id))

/**
 * Index of the memory for which a batch was refused; null when the answer is not a refusal. @throws {Error} for any
 * other refusal.
 */
export const refusedAt = (answer: Json): number | null => {
  const { error } = fields(answer)
  if (error === undefined) return null
  const at = /^memories\.(\d+)\.content$/.exec(text(fields(error).param))?.[1]
  if (at === undefined) throw new Error(JSON.stringify(answer))
  return Number(at)
}
