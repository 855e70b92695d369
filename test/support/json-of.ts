/** The document of an answer that may be something else, too. @throws {Error} when it is */
export const jsonOf = <T>(
  answer: { readonly json: T } | { readonly bytes: unknown } | { readonly events: unknown },
): T => {
  if ('json' in answer) return answer.json
  throw new Error('it answered no document')
}
