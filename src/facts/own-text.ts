/** Maximum characters that are read. */
const longest = 32_768

const marks = ['""', '“”', '«»', '„“', '„”'] as const
const severalSentences = /[.!?\n]["'”’]?\s{1,8}\S/u

/** Code, and lines that quote a message. */
const pasted = /```[\s\S]{0,32768}?(?:```|$(?![\s\S]))|^[ \t]{0,4}>[^\n]{0,4000}$/gmu

/**
 * A task about a text, which stands behind the colon: its author speaks in it. Or a play, a story or a supposition: what
 * is said from there on is none of the user's life.
 */
const given =
  /(?:^|[.!?\n]\s{0,4})(?:(?:hi|hey|hello|ok|okay|so|now|and|then|next|also|please|pls|quick one|can you|could you|would you|will you|help me|help me to|i need you to|i want you to)[ ,!]{1,3}){0,4}(?:(?:summari[sz]e|translate|proofread|proof-read|rewrite|reword|rephrase|paraphrase|edit|correct|polish|shorten|tighten|improve|review|analy[sz]e|classify|extract|pull out|paste|pasted|fix the|fix this|fix my|check the|check this|check my|reply to|respond to|answer this|make this|make it|turn this|convert|grade|critique|explain this|continue|complete|format this|tidy|spell-?check)\b(?:(?![.!?]\s{1,3}(?:i|my|we|our)\b(?! (?:need|want|wrote)))[^\n:]){0,160}:(?![\d/])|(?:say,? (?:that )?(?:i|we|you|my)|let['’]?s (?:play|pretend|role|imagine|say|assume|suppose)|role-?play|pretend|imagine|suppose|supposing|assume|assuming|hypothetically|in this (?:story|game|scene|scenario|role)|you are (?:now )?(?:the|a|an|my) [\w -]{0,30}(?:master|narrator|character|interviewer|pirate|wizard|king|queen|actor|role)|act as|play the|picture this|what if(?![^.!?\n]{0,300}\?))\b)/iu
const shown =
  /\bhere(?:['’]s| is) (?:the|an?|my|his|her|their|what) [^\n:.]{0,60}\b(?:e-?mail|message|letter|text|note|post|review|complaint|reply|answer|transcript|bio|draft|paragraph|excerpt|conversation|chat)\b[^\n:]{0,100}:|\b(?:(?:here(?:['’]s| is| are)|below is|this is)\b(?![^\n:]{0,80}\b(?:about (?:me|myself|us|my|our)|(?:my|our) (?:preferences?|profile|background|situation|details?|info|information|facts|routine|schedule|setup|habits?|rules?|diet|allergies|goals?|constraints?|needs?|family|team)|(?:you (?:should|need to)|to) (?:know|remember))\b)|i (?:got|received|wrote)|we (?:got|received)|(?:the|following) (?:text|message|mail|e-?mail) (?:is|says|reads)|(?:he|she|they|client|customer|boss) (?:wrote|sent|writes))\b[^\n:]{0,160}:[ \t]{0,4}(?:\n|["“«„])/iu

/**
 * Returns the part of a message in which its user speaks of their own life: without quotations of several sentences, code, the text that a
 * task is about, and what follows where a play or a supposition begins.
 */
export const ownText = (text: string): string => {
  const spoken = marks.reduce(withoutQuotations, text.slice(0, longest).replaceAll(pasted, '\n'))
  const ends = [given, shown].map((pattern) => spoken.search(pattern)).filter((at) => at >= 0)
  // the match begins with the end of the sentence before
  return ends.length === 0 ? spoken : spoken.slice(0, Math.min(...ends) + 1).replace(/[\p{L}\p{N}]$/u, '')
}

/** Leaves out quotations of several sentences. One within a sentence is judged with it. */
const withoutQuotations = (text: string, [open = '', close = '']: string): string => {
  let kept = ''
  let from = 0
  for (;;) {
    let start = text.indexOf(open, from)
    // behind a number it is a length in inches
    while (/\p{N}/u.test(text[start - 1] ?? '')) start = text.indexOf(open, start + 1)
    const end = start < 0 ? -1 : text.indexOf(close, start + 1)
    if (end < 0) return kept + text.slice(from)
    kept += severalSentences.test(text.slice(start, end)) ? text.slice(from, start) : text.slice(from, end + 1)
    from = end + 1
  }
}

const moment =
  /\b(?:for (?:the )?(?:next|another) [\w-]+ (?:seconds?|minutes?|hours?|messages?|turns?|questions?|answers?|rounds?)|(?:just|only) (?:this once|this time|for (?:now|today|tonight|this|fun(?<!\bi [^.]{0,80})))|(?:just|only) once\b(?! (?:an?|per|every|each|in)\b)|for (?:this|the next) (?:one|answer|message|reply|task|chat|conversation|session|e-?mail|exercise|question)\b(?! of)|for today|in (?:\d{1,3}|two|five|ten|twenty) (?:seconds?|minutes?|hours?)(?<!\b(?:run|swim|row|cycle|walk|solve) (?:\S{1,30} ){1,6}in \S{1,6} \S{1,7}))\b/iu

/** An answer that agrees only to mock. */
const mocking =
  /^\W{0,4}(?:(?:sure|yeah|yes|right|ok|oh),? and i['’]?m (?:(?:the|an?) )?(?:king|queen|pope|emperor|empress|president|prime minister|santa|easter bunny|tooth fairy|napoleon|batman|superman|unicorn|martian|millionaire|billionaire)\b|oh (?:great|sure|wonderful|joy)\b|yeah,? right\b)/iu

/** Whether a sentence holds for a moment only, or is not meant. */
export const isOfTheMoment = (sentence: string): boolean => moment.test(sentence) || mocking.test(sentence)
