/**
 * Characters per token in rough estimates: accurate within some 20 % for English, too low a count for other scripts.
 */
const charsPerToken = 4

/** Estimates the number of tokens of a text from its length in characters. */
export const tokensOfChars = (chars: number): number => Math.ceil(chars / charsPerToken)
