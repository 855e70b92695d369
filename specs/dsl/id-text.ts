/** What is wrong with a text that cannot be an id, for error messages. */
export const idTextRule = 'must be well-formed Unicode in normalization form C'

const isAscii = /^\p{ASCII}*$/u

/**
 * Whether a text can be an id. A lone surrogate is stored as the replacement character, so two ids would meet; and of two
 * texts that look alike, only one is in form C.
 */
export const isIdText = (text: string): boolean =>
  isAscii.test(text) || (text.isWellFormed() && text.normalize('NFC') === text)

/** Fields and parameters that hold ids, as they are named throughout. */
export const holdsId = (name: string): boolean => /(^|_)ids?$|[a-z]Ids?$/.test(name)
