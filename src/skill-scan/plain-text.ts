/** Letters of other scripts that resemble Latin ones, and are used to hide words from filters. */
const lookalikes: Readonly<Record<string, string>> = Object.fromEntries(
  'аa еe оo рp сc уy хx іi јj ѕs һh ԁd ԛq ԝw ոn սu ցg ɡg ɩi νv АA ВB ЕE КK МM НH ОO РP СC ТT УY ХX ІI ЅS οo αa ρp τt ιi υu κk ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX ⅰi ıi ꜱs ᴀa кk мm тt вb нh'
    .split(' ')
    .map(([letter = '', latin = '']) => [letter, latin]),
)

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
