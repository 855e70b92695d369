/** Rule for ids, for error messages. */
export const idTextRule =
  'must be well-formed Unicode in normalization form C, without control characters, and not . or ..'

/** The part of the rule that a JSON Schema pattern can express. */
export const idTextPattern = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$'

const isPlain = /^[ -~]*$/
const hasControl = /\p{Cc}/u

/**
 * Whether a text can be an id. A lone surrogate is stored as the replacement character, so two ids could collide;
 * SQLite truncates text at a NUL character; and of two texts that look alike, only one is in normalization form C. URL
 * parsers remove `.` and `..` from a path, even percent-encoded: a request for the user `..` would reach its tenant.
 */
export const isIdText = (text: string): boolean =>
  !isDotSegment(text) &&
  (isPlain.test(text) || (!hasControl.test(text) && text.isWellFormed() && text.normalize('NFC') === text))

const isDotSegment = (text: string): boolean => text === '.' || text === '..'

/** Whether a field or parameter contains an id, by its name. */
export const holdsId = (name: string): boolean => /(^|_)ids?$|[a-z]Ids?$/.test(name)
