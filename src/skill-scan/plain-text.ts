/** Letters of other scripts that resemble Latin ones, and are used to hide words from filters. */
const lookalikes: Readonly<Record<string, string>> = Object.fromEntries([
  ['а', 'a'],
  ['е', 'e'],
  ['о', 'o'],
  ['р', 'p'],
  ['с', 'c'],
  ['у', 'y'],
  ['х', 'x'],
  ['і', 'i'],
  ['ј', 'j'],
  ['ѕ', 's'],
  ['һ', 'h'],
  ['ԁ', 'd'],
  ['ԛ', 'q'],
  ['ԝ', 'w'],
  ['ո', 'n'],
  ['ս', 'u'],
  ['ց', 'g'],
  ['ɡ', 'g'],
  ['ɩ', 'i'],
  ['ν', 'v'],
  ['А', 'A'],
  ['В', 'B'],
  ['Е', 'E'],
  ['К', 'K'],
  ['М', 'M'],
  ['Н', 'H'],
  ['О', 'O'],
  ['Р', 'P'],
  ['С', 'C'],
  ['Т', 'T'],
  ['У', 'Y'],
  ['Х', 'X'],
  ['І', 'I'],
  ['Ѕ', 'S'],
  ['ο', 'o'],
  ['α', 'a'],
  ['ρ', 'p'],
  ['τ', 't'],
  ['ι', 'i'],
  ['υ', 'u'],
  ['κ', 'k'],
  ['Α', 'A'],
  ['Β', 'B'],
  ['Ε', 'E'],
  ['Ζ', 'Z'],
  ['Η', 'H'],
  ['Ι', 'I'],
  ['Κ', 'K'],
  ['Μ', 'M'],
  ['Ν', 'N'],
  ['Ο', 'O'],
  ['Ρ', 'P'],
  ['Τ', 'T'],
  ['Υ', 'Y'],
  ['Χ', 'X'],
  ['ո', 'n'],
  ['ⅰ', 'i'],
  ['ı', 'i'],
  ['ꜱ', 's'],
  ['ᴀ', 'a'],
  ['к', 'k'],
  ['м', 'm'],
  ['т', 't'],
  ['в', 'b'],
  ['н', 'h'],
])

const isInvisible = /\p{DI}/gu
const isLookalike = /[\u0131\u0251\u0261\u0269\u0370-\u03ff\u0400-\u052f\u0531-\u0587\u1d00\u2170\ua731]/gu
const latinWord = /[a-z]/iu
const mixedWord = /\p{L}{2,64}/gu

/**
 * Normalises a text to what a reader perceives: without invisible characters, in compatibility form, and with
 * lookalikes of Latin letters replaced. Lines are kept.
 */
export const plainText = (text: string): string =>
  text
    .replaceAll(isInvisible, '')
    .split('\n')
    .map((line) => latinized(line.normalize('NFKC')))
    .join('\n')

/**
 * Replaces lookalikes in words that contain Latin letters. A word of lookalikes only is replaced too, unless its line
 * is written in that script, as letters without a Latin lookalike show.
 */
const latinized = (line: string): string => {
  isLookalike.lastIndex = 0
  if (!isLookalike.test(line)) return line
  const isNative = [...line.matchAll(foreign)].some(([letter]) => !(letter in lookalikes))
  // a dotless i is a letter of its own in Turkish, as others of its letters show
  const isTurkish = turkish.test(line)
  return line.replaceAll(mixedWord, (word) => {
    const read = [...word]
      .map((letter) => (isTurkish && letter === 'ı' ? letter : (lookalikes[letter] ?? letter)))
      .join('')
    return latinWord.test(word) || (!isNative && isAscii.test(read)) ? read : word
  })
}

const foreign = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}]/gu
const isAscii = /^[a-z]+$/iu
const turkish = /[şğçöüŞĞÇÖÜİ]/u

/** Returns the line number of an offset, from 1. */
export const lineAt = (text: string, offset: number): number => {
  let line = 1
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line += 1
  return line
}
