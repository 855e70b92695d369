/** Codes of errors about a part of the request. */
const naming: ReadonlySet<string> = new Set([
  ...['missing_field', 'unknown_field', 'invalid_field'],
  ...['invalid_query', 'invalid_header'],
])

/** Maximum number of characters of a name in a message, since callers can choose names of fields. */
const longest = 100

/**
 * Returns an error's message with the name of the invalid field, query parameter or header, since many SDKs only show
 * the message (specs/decisions/0130-errors-of-other-apis.md).
 */
export const withNamedPart = (
  { code, message }: { readonly code: string; readonly message: string },
  param: string | undefined,
): string => {
  if (param === undefined || !naming.has(code)) return message
  const name = param.length > longest ? `${param.slice(0, longest)}…` : param
  return `${message.replace(/\.$/, '')}: ${name}.`
}
