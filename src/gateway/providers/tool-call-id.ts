/**
 * Separates a tool call's id from data that the provider needs back with that call. The data travels in the id because
 * OpenAI's format has no other field that every client preserves. The part before the mark is an id for any provider;
 * the part after it is valid for one model only.
 */
const mark = '__sig__'

/** Returns an id that carries a signature of `model`'s reasoning. */
export const idWithSignature = (id: string, model: string, signature: string): string =>
  idCarrying(id, `${model}:${signature}`)

/** Returns an id that carries data read by `carriedIn` from another id. */
export const idCarrying = (id: string, carried: string): string =>
  `${id}${mark}${Buffer.from(carried).toString('base64url')}`

/** Whether the id carries provider data. */
export const isSigned = (id: unknown): boolean => typeof id === 'string' && id.includes(mark)

/** Returns the id without the data it carries. */
export function plainCallId(id: string): string {
  const at = id.indexOf(mark)
  return at < 0 ? id : id.slice(0, at)
}

/** Returns the signature an id carries for `model`; null when it carries none, or one of another model. */
export function signatureIn(id: string, model: string): string | null {
  const carried = carriedIn(id)
  return carried?.startsWith(`${model}:`) ? carried.slice(model.length + 1) : null
}

/** Returns the data an id carries, for any model; null for a plain id. */
export function carriedIn(id: string): string | null {
  const at = id.indexOf(mark)
  return at < 0 ? null : Buffer.from(id.slice(at + mark.length), 'base64url').toString('utf8')
}
