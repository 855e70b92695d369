/** Characters that make one token in estimates: right within some 20 % for English, too low for other scripts. */
const charsPerToken = 4

/** Tokens of so many characters. */
export const tokensOfChars = (chars: number): number => Math.ceil(chars / charsPerToken)
