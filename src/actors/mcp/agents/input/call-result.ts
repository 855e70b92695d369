import { isObject } from '#runtime/index.ts'
import type { JsonObject } from '#specs/dsl/json.ts'

/** Error code of revision 2025-11-25: the user has to visit URLs first, and the call has to be repeated then. */
const urlsRequired = -32042

/**
 * Returns the result of a call. When the server requires URLs to be visited first, the error is converted to the result
 * that newer revisions of the protocol use.
 */
export const resultOf = async (call: () => Promise<unknown>): Promise<JsonObject> => {
  try {
    const result = await call()
    return isObject(result) ? result : {}
  } catch (error) {
    const urls = requiredUrls(error)
    if (urls === null) throw error
    const requests = urls.map((params, index) => [`url_${index}`, { method: 'elicitation/create', params }])
    return { resultType: 'input_required', inputRequests: Object.fromEntries(requests), again: true }
  }
}

const requiredUrls = (error: unknown): readonly JsonObject[] | null => {
  if (!isObject(error) || error.code !== urlsRequired || !isObject(error.data)) return null
  const { elicitations } = error.data
  if (!Array.isArray(elicitations) || elicitations.length === 0) return null
  return elicitations.filter(isObject).map((each) => ({ ...each, mode: 'url' }))
}
