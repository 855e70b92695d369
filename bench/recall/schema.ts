type Json = unknown
type Fields = Readonly<Record<string, Json>>

/** What a file of a public set says, read without trust: what is missing is empty. */
export const fields = (value: Json): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})
export const items = (value: Json): readonly Json[] => (Array.isArray(value) ? (value as readonly Json[]) : [])
export const text = (value: Json): string => (typeof value === 'string' ? value : '')
export const number = (value: Json): number => (typeof value === 'number' ? value : 0)

/** What a search found, best first. */
export interface Found {
  readonly hits: readonly { readonly id: string; readonly score: number }[]
}

/** Hits of an answer of `memory.search`. */
export const foundIn = (answer: Json): Found['hits'] =>
  items(fields(answer).results).map((hit) => ({ id: text(fields(hit).id), score: number(fields(hit).score) }))

/** Ids of an answer of `memory.write_batch`, in order. */
export const writtenIn = (answer: Json): readonly string[] =>
  items(fields(answer).memories).map((written) => text(fields(written).id))

/** Which memory of a batch was refused; null for an answer that is no refusal. @throws {Error} for another refusal. */
export const refusedAt = (answer: Json): number | null => {
  const { error } = fields(answer)
  if (error === undefined) return null
  const at = /^memories\.(\d+)\.content$/.exec(text(fields(error).param))?.[1]
  if (at === undefined) throw new Error(JSON.stringify(answer))
  return Number(at)
}
