/** Patterns of the phrases that change the simulated model's behaviour, by their names in docs/simulated-model.md. */
const patterns = {
  'slow please': /\bslow please\b/i,
  'think please': /\bthink please\b/i,
  'fail please': /\bfail please\b/i,
  'rate limit please': /\brate limit please\b/i,
  'cut please': /\bcut please\b/i,
  'malformed please': /\bmalformed please\b/i,
  'with its result': /\bwith (?:its|the|that) result\b/i,
} as const

/** Precedes the text to reply with. */
export const exactPhrase = 'reply exactly:'

/** Precedes the first field of an answer in DSPy's format. */
export const fieldsPhrase = 'starting with the field'

/** Verbs before `tool` or `tools` that request a tool without a name. */
export const toolVerbs = ['use', 'call', 'run'] as const

/** Words that request a search, where one is offered; a question does so too. */
export const searchVerbs = ['search', 'look up', 'find out'] as const

/** Matches one of `toolVerbs`. */
export const toolVerb = /\b(?:use|call|run)\b/gi
const nouns = /\b(tools?)\b/gi
/** How far after its verb the noun may be, in characters, and how many verbs are looked at. */
const maxBetween = 500
const maxVerbs = 200

/**
 * Finds a request for a tool, or for all `tools`, without a name: one of `toolVerbs` and the noun.
 *
 * @returns the noun in lower case; null for none.
 */
export const unnamedTool = (text: string): string | null => {
  let tries = 0
  for (const { 0: verb, index } of text.matchAll(toolVerb)) {
    if (tries++ >= maxVerbs) return null
    const from = index + verb.length
    const last = [...text.slice(from, from + maxBetween + 'tools'.length).matchAll(nouns)].at(-1)
    if (last !== undefined) return last[0].toLowerCase()
  }
  return null
}

/** All phrases that change the simulated model's behaviour; the page lists each. */
export const phrases: readonly string[] = [
  ...Object.keys(patterns),
  exactPhrase,
  fieldsPhrase,
  ...toolVerbs,
  ...searchVerbs,
]

/** Whether a text contains the phrase, ignoring case. */
export const says = (text: string, phrase: keyof typeof patterns): boolean => patterns[phrase].test(text)
