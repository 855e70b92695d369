/**
 * The header of an answer for which text was sent to a provider without redaction, because the project's policy does not
 * cover it (specs/decisions/0087-redaction.md).
 */
export const unredactedHeader = (isRedacted: boolean): readonly (readonly [name: string, value: string])[] =>
  isRedacted ? [] : [['x-redaction', 'off']]
