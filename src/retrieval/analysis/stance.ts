/**
 * What a text is in a conversation with an assistant: it says how later requests are to be answered, what its author would
 * rather have, or begins by replying to what was answered.
 */
export type Stance = 'instruction' | 'preference' | 'reply'

/** "Always … whenever I want …". English, as all of these; a text of another language has none of them. */
const firmRequest =
  /\b(?:always|never|only|don't|do not|make sure|remember|please)\b[^.!?\n]{0,200}\b(?:when|whenever|if|every time|each time|any ?time) (?:I|we) (?:ask|request|talk|mention|discuss|inquire|want|need|say|share|send)\b/i

/** "When I request …, include …". */
const conditionalRequest =
  /\b(?:when|whenever|if|every time|each time|any ?time) (?:I|we) (?:ask|request|talk|mention|discuss|inquire)\b[^.!?\n]{0,120}\b(?:always|never|only|include|provide|give|use|format|show|explain|answer|respond|reply)\b/i

/** What both of these have in them, found in a fraction of their time: most texts say nothing of requests. */
const ofRequests = /(?:when|ever|if|time) (?:I|we) /i

const fromNowOn = /^(?:please )?from now on\b/i

const preferring =
  /\b(?:I|we)(?:.d| would| really| usually| generally)? (?:prefer|like to|love to|would rather|avoid|hate|can.t stand)\b|\bmy (?:preference|favou?rite)\b|\brather than\b/i

/** "Thanks! I'll …": mostly about what the assistant said. */
const replying =
  /^(?:thanks|thank you|got it|sure|okay|ok|sounds|great|yeah|yes|that makes|that sounds|perfect|awesome|hmm|haha|alright|right|i see)\b/i

/** What an instruction is about: "when I mention …". */
const condition = /\b(?:when|whenever|if|every time|each time|any ?time) (?:I|we) \w{1,30} (?<about>[^.!?\n]{1,200})/i

/** A question about what was said or done in the conversations, rather than one that begins something. */
const lookingBack =
  /\b(?:I|we)(?:.ve| have)? (?:brought up|discussed|mentioned|talked|covered|said|worked|been)\b|\b(?:our|these|this|the) (?:conversations?|chats?|discussions?)\b|\b(?:did|have|had|was|were) (?:I|we|my)\b|\bsummar(?:y|i[sz]e)\b/i

/** A question whose answer is a suggestion or a piece of work, rather than what was said. */
const seeking =
  /\b(?:(?:can|could|would|will) you|suggest\w*|recommend\w*|advi[cs]e|should I|(?:how|where|what|which) (?:do|can|could|would|should|might) I|help me|I.m (?:planning|looking|thinking|trying)|ideas?|tips|options|best way)\b/i

/** Characters of a text that are looked at. */
const most = 600

const beginning = (text: string): string => (text.length > most ? text.slice(0, most) : text)

/** What a text says of later requests; null for nothing. */
export const stanceOf = (text: string): Stance | null => {
  const begins = beginning(text)
  if (fromNowOn.test(begins)) return 'instruction'
  if (ofRequests.test(begins) && (firmRequest.test(begins) || conditionalRequest.test(begins))) return 'instruction'
  if (isReply(text)) return 'reply'
  return preferring.test(begins) ? 'preference' : null
}

/** Whether a text begins by replying. */
export const isReply = (text: string): boolean => replying.test(text)

/** The requests that an instruction is about, in its own words; empty when it does not say. */
export const conditionOf = (instruction: string): string => condition.exec(beginning(instruction))?.groups?.about ?? ''

/** Whether a question is about what was said: what is to be done with later requests says nothing of it. */
export const looksBack = (question: string): boolean => lookingBack.test(beginning(question))

/** Whether a question looks for advice or for help, so that what its author prefers matters. */
export const seeksAdvice = (question: string): boolean => seeking.test(beginning(question))
