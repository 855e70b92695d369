/** Patterns of what changes the simulated model's behaviour, by the names that docs/simulated-model.md has for them. */
const patterns = {
  'slow please': /\bslow please\b/i,
  'fail please': /\bfail please\b/i,
  'rate limit please': /\brate limit please\b/i,
  'cut please': /\bcut please\b/i,
  'malformed please': /\bmalformed please\b/i,
  'with its result': /\bwith (?:its|the|that) result\b/i,
} as const

/** Before the whole answer. */
export const exactPhrase = 'reply exactly:'

/** Before the first of the fields that an answer in the format of DSPy has. */
export const fieldsPhrase = 'starting with the field'

/** Before `tool` or `tools`, which then have no name. */
export const toolVerbs = ['use', 'call', 'run'] as const

/** Everything that a text can say to change the simulated model's behaviour; the page names each. */
export const phrases: readonly string[] = [...Object.keys(patterns), exactPhrase, fieldsPhrase, ...toolVerbs]

/** Whether a text contains the phrase, in whatever case. */
export const says = (text: string, phrase: keyof typeof patterns): boolean => patterns[phrase].test(text)
