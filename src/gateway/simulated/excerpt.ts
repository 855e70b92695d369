/** Characters of the beginning and of the end of a long text that are looked at. */
const endChars = 4 * 1024

/**
 * The part of a text in which the simulated model searches for phrases, names and values: all of a usual text, the
 * beginning and the end of a long one. It serves its requests in the server's process, so that its work has to be
 * bounded whatever a caller sends.
 */
export const excerptOf = (text: string): string =>
  text.length <= 2 * endChars ? text : `${text.slice(0, endChars)}\n${text.slice(-endChars)}`
