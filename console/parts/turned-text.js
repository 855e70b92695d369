/**
 * Characters that turn the direction of the text around them, such as U+202E: a name with one is read as another, and what follows it
 * on the page is turned as well.
 */
const turning = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/

/** Whether a text is to be kept apart from what stands beside it. @param {unknown} text @returns {text is string} */
export const turns = (text) => typeof text === 'string' && turning.test(text)

/**
 * A value as JSON for people, who see what turns text as its escape (`\u202e`): the same value to whom parses it.
 *
 * @param {unknown} value
 * @param {number} [indent]
 */
export const jsonText = (value, indent) =>
  (JSON.stringify(value, null, indent) ?? '').replaceAll(
    /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
