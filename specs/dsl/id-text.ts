/** What is wrong with a text that cannot be an id, for error messages. */
export const idTextRule = 'must be well-formed Unicode in normalization form C, without control characters'

/** The part of the rule that a pattern of JSON Schema can say. */
export const idTextPattern = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$'

const isPlain = /^[ -~]*$/
const hasControl = /\p{Cc}/u

/**
 * Whether a text can be an id. A lone surrogate is stored as the replacement character, so two ids would meet; SQLite gives
 * back what stands before a character of code 0; and of two texts that look alike, only one is in form C.
 */
export const isIdText = (text: string): boolean =>
  isPlain.test(text) || (!hasControl.test(text) && text.isWellFormed() && text.normalize('NFC') === text)

/** Fields and parameters that hold ids, as they are named throughout. */
export const holdsId = (name: string): boolean => /(^|_)ids?$|[a-z]Ids?$/.test(name)
