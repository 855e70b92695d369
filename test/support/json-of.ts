/** The JSON document of an answer. @throws {Error} when the answer is not JSON. */
export const jsonOf = <T>(
  answer: { readonly json: T } | { readonly bytes: unknown } | { readonly events: unknown },
): T => {
  if ('json' in answer) return answer.json
  throw new Error('it answered no document')
}
