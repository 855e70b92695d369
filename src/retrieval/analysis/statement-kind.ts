/**
 * Role of a text in a conversation with an assistant: an instruction on how to respond to later requests, a statement
 * of its author's preference, or a text that begins with a reply to the previous response.
 */
export type StatementKind = 'instruction' | 'preference' | 'reply'

/** "Always … whenever I want …". English only, like all of these patterns; texts in other languages have no kind. */
const firmRequest =
  /\b(?:always|never|only|don't|do not|make sure|remember|please)\b[^.!?\n]{0,200}\b(?:when|whenever|if|every time|each time|any ?time) (?:I|we) (?:ask|request|talk|mention|discuss|inquire|want|need|say|share|send)\b/i

/** "When I request …, include …". */
const conditionalRequest =
  /\b(?:when|whenever|if|every time|each time|any ?time) (?:I|we) (?:ask|request|talk|mention|discuss|inquire)\b[^.!?\n]{0,120}\b(?:always|never|only|include|provide|give|use|format|show|explain|answer|respond|reply)\b/i

/** A substring of both patterns that is found much faster: most texts are not about requests. */
const ofRequests = /(?:when|ever|if|time) (?:I|we) /i

const fromNowOn = /^(?:please )?from now on\b/i

const preferring =
  /\b(?:I|we)(?:.d| would| really| usually| generally)? (?:prefer|like to|love to|would rather|avoid|hate|can.t stand)\b|\bmy (?:preference|favou?rite)\b|\brather than\b/i

/** "Thanks! I'll …": such a text is mostly about what the assistant said. */
const replying =
  /^(?:thanks|thank you|got it|sure|okay|ok|sounds|great|yeah|yes|that makes|that sounds|perfect|awesome|hmm|haha|alright|right|i see)\b/i

/** The condition of an instruction: "when I mention …". */
const condition = /\b(?:when|whenever|if|every time|each time|any ?time) (?:I|we) \w{1,30} (?<about>[^.!?\n]{1,200})/i

/** A question about what was said or done in earlier conversations, as opposed to a new request. */
const referringBack =
  /\b(?:I|we)(?:.ve| have)? (?:brought up|discussed|mentioned|talked|covered|said|worked|been)\b|\b(?:our|these|this|the) (?:conversations?|chats?|discussions?)\b|\b(?:did|have|had|was|were) (?:I|we|my)\b|\bsummar(?:y|i[sz]e)\b/i

/** A question that seeks a suggestion or a piece of work, as opposed to recall. */
const seeking =
  /\b(?:(?:can|could|would|will) you|suggest\w*|recommend\w*|advi[cs]e|should I|(?:how|where|what|which) (?:do|can|could|would|should|might) I|help me|I.m (?:planning|looking|thinking|trying)|ideas?|tips|options|best way)\b/i

/** Maximum characters of a text that are examined. */
const max = 600

const beginning = (text: string): string => (text.length > max ? text.slice(0, max) : text)

/** Returns the kind of statement that a text is; null for a plain statement. */
export const statementKindOf = (text: string): StatementKind | null => {
  const begins = beginning(text)
  if (fromNowOn.test(begins)) return 'instruction'
  if (ofRequests.test(begins) && (firmRequest.test(begins) || conditionalRequest.test(begins))) return 'instruction'
  if (isReply(text)) return 'reply'
  return preferring.test(begins) ? 'preference' : null
}

/** Whether a text begins with a reply. */
export const isReply = (text: string): boolean => replying.test(text)

/** Returns the condition of an instruction, in its own words; empty when it has none. */
export const conditionOf = (instruction: string): string => condition.exec(beginning(instruction))?.groups?.about ?? ''

/** Whether a question is about what was said; instructions for later requests do not answer such a question. */
export const refersBack = (question: string): boolean => referringBack.test(beginning(question))

/** Whether a question seeks advice or help, so that its author's preferences are relevant. */
export const seeksAdvice = (question: string): boolean => seeking.test(beginning(question))
