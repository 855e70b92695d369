/** Unicode direction controls such as U+202E: a name that contains one looks like another name, and also changes how the text after it is displayed. */
const turning = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/

/** Whether a text has to be isolated from its surroundings. */
export const turns = (text: unknown): text is string => typeof text === 'string' && turning.test(text)

/** The arguments of a call in a line: texts and numbers by their names. @returns '' without arguments */
export const argumentsText = (given: object = {}) =>
  Object.entries(given)
    .map(([name, value]) => `${name}: ${jsonText(value).replace(/^"(.*)"$/, '$1')}`)
    .join(' · ')

/**
 * A value as JSON for display, with direction controls as visible escapes (`\u202e`), so that it parses to the same
 * value.
 */
export const jsonText = (value: unknown, indent?: number) =>
  (JSON.stringify(value, null, indent) ?? '').replaceAll(
    /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
