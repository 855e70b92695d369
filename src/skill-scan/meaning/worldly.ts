/** What follows when rules, messages or instructions are those of a matter of the world, and no model has them. */
const matters =
  /^\s{0,2}(?:of|from|in) (?:the |a |an |this |that |our |your )?(?:\w{1,14} )?(?:thread|game|round|level|tournament|e-?mail|sender|ticket|draft|customer|project|sprint|contract|edition|semester|season|match|recipe|board|puzzle)s?\b/iu

/** What follows when a mode is one of a device or a program of the user. */
const devices =
  /^\s{0,2}(?:on|in|of|for|under) (?:the |your |an? |their )?(?:\w{1,14} )?(?:phone|device|app|tablet|browser|extension|headset|watch|tv|android|iphone|chromebook|settings|portal|console|dashboard|printer|router)s?\b/iu

/** What follows when no safeguard of a model is meant, but a message or a service. */
const services =
  /^\s{0,2}(?:e-?mails?|mails?|letters?|messages?|pages?|slides?|screens?|sms|texts?)\b|^\s{0,2}(?:of|at|for) (?:the )?(?:payment|billing|shipping|tax|bank)\b/iu

const ends = {
  rules: /\b(?:messages?|rules|instructions?|context|guidelines?|commands?)$/iu,
  mode: /\bmode$/iu,
  safety: /\b(?:sandbox|confirmations?)$/iu,
} as const

/** Whether a match speaks of a matter of the world, as the words after it show. */
export const isWorldly = ({ 0: text, index = 0, input = '' }: RegExpMatchArray): boolean => {
  const rest = input.slice(index + text.length, index + text.length + 80)
  return (
    (ends.rules.test(text) && matters.test(rest)) ||
    (ends.mode.test(text) && devices.test(rest)) ||
    (ends.safety.test(text) && services.test(rest))
  )
}

const named = {
  rules: /\b(?:messages?|rules|instructions?|context|guidelines?|commands?)(?=\s(?:of|from|in)\b)/giu,
  mode: /\bdeveloper mode\b/giu,
  safety: /\b(?:sandbox|confirmation)\b/giu,
} as const

/** Whether each mention of such a thing in a sentence speaks of a matter of the world. */
export const isOnlyWorldly = (kind: keyof typeof named, text: string): boolean => {
  const found = [...text.matchAll(named[kind])]
  return found.length > 0 && found.every((match) => isWorldly(match))
}

/** Whether a sentence says that its user, or what comes later, has the last word. */
export const isOwnChoice = (text: string): boolean =>
  /\busers?(?: \w{1,14}){0,2} (?:(?:can|may|explicitly|to) )?overrid|\blater (?:ones? )?overrides? earlier/u.test(text)
