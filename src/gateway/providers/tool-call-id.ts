/**
 * What a provider wants back with a tool call, carried in the call's id: OpenAI's form has no other field that every
 * client keeps. The part before the mark is an id for any provider; what follows is good for one model only.
 */
const mark = '__sig__'

/** An id that carries a signature of `model`'s reasoning. */
export const idWithSignature = (id: string, model: string, signature: string): string =>
  idCarrying(id, `${model}:${signature}`)

/** An id that carries what `carriedIn` found in another. */
export const idCarrying = (id: string, carried: string): string =>
  `${id}${mark}${Buffer.from(carried).toString('base64url')}`

/** Whether it is an id that carries something. */
export const isSigned = (id: unknown): boolean => typeof id === 'string' && id.includes(mark)

/** The id without what it carries. */
export function plainCallId(id: string): string {
  const at = id.indexOf(mark)
  return at < 0 ? id : id.slice(0, at)
}

/** The signature that an id carries for `model`; null when it has none, or one of another model. */
export function signatureIn(id: string, model: string): string | null {
  const carried = carriedIn(id)
  return carried?.startsWith(`${model}:`) ? carried.slice(model.length + 1) : null
}

/** What an id carries, for whatever model; null when it is a plain one. */
export function carriedIn(id: string): string | null {
  const at = id.indexOf(mark)
  return at < 0 ? null : Buffer.from(id.slice(at + mark.length), 'base64url').toString('utf8')
}
