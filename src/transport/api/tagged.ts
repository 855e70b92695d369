import { entityTag, namesTag } from '../entity-tag.ts'
import type { Headers } from '../http/http-port.ts'
import type { Exchange } from './exchange.ts'

interface Tagged {
  readonly body: string | Uint8Array
  readonly etag: string
}

/** Cache by result: a result object that a use-case returns again is serialised and tagged once. */
const known = new WeakMap<object, Tagged>()

/**
 * Sends an answer with its entity tag, or 304 without a body when `If-None-Match` matches it.
 *
 * @param result the use-case's result; `bodyOf` serialises it when it is new.
 * @returns the status.
 */
export const sendTagged = (
  { request, response }: Exchange,
  status: number,
  {
    headers,
    result,
    bodyOf,
  }: { readonly headers: Headers; readonly result: object; readonly bodyOf: () => string | Uint8Array },
): number => {
  const { body, etag } = known.get(result) ?? tag(result, bodyOf())
  const fresh = namesTag(request.header('if-none-match'), etag)
  const sent = fresh ? 304 : status
  response.send(sent, [...headers, ['etag', etag]], fresh ? '' : body)
  return sent
}

const tag = (result: object, body: string | Uint8Array): Tagged => {
  const tagged = { body, etag: entityTag(body) }
  known.set(result, tagged)
  return tagged
}
