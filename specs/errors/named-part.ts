/** Codes of a wrong part of the request. */
const naming: ReadonlySet<string> = new Set([
  ...['missing_field', 'unknown_field', 'invalid_field'],
  ...['invalid_query', 'invalid_header'],
])

/** Characters of a name that a message has at most; callers may name a field as they like. */
const longest = 100

/**
 * The message of an error with the name of the field, query parameter or header that is wrong: many SDKs show the message
 * alone (specs/decisions/0245-messages-name-the-field.md).
 */
export const withNamedPart = (
  { code, message }: { readonly code: string; readonly message: string },
  param: string | undefined,
): string => {
  if (param === undefined || !naming.has(code)) return message
  const name = param.length > longest ? `${param.slice(0, longest)}…` : param
  return `${message.replace(/\.$/, '')}: ${name}.`
}
