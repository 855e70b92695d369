import type { Match } from './finding.ts'

const bidi = /[\u202a-\u202e\u2066-\u2069]/gu
const tags = /[\u{e0001}\u{e0020}-\u{e007f}]{1,2000}/gu
const flagBase = /\u{1f3f4}$/u
const selectors = /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{3,4000}/gu
const joiners = /[\u200b-\u200d\u2060-\u2064\ufeff]{4,4000}/gu
const inWord = /[\p{Script=Latin}\p{N}]\p{DI}{1,8}[\p{Script=Latin}\p{N}]/gu
const mixedWord =
  /(?:\p{Script=Latin}{1,32}[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}]|[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}]{1,32}\p{Script=Latin})[\p{L}]{0,32}/gu
const control = /[^\P{Cc}\t\n\r]{1,200}/gu

/** Finds characters that are invisible to a person but read by a model, or that display other text than there is. */
export const hiddenText = (text: string): readonly Match[] => [
  ...found(
    text,
    bidi,
    'blocker',
    'bidi_control',
    () => 'A control character turns the direction of the text, which shows another one.',
  ),
  ...found(text, tags, 'blocker', 'hidden_text', taggedMessage).filter(
    ({ at }) => !flagBase.test(text.slice(Math.max(0, at - 2), at)),
  ),
  ...found(
    text,
    selectors,
    'blocker',
    'hidden_text',
    () => 'A chain of variation selectors carries data that is not seen.',
  ),
  ...found(
    text,
    joiners,
    'blocker',
    'hidden_text',
    () => 'A chain of characters without width carries data that is not seen.',
  ),
  ...found(text, inWord, 'warning', 'zero_width', () => 'An invisible character splits a word.'),
  ...found(
    text,
    mixedWord,
    'warning',
    'mixed_script',
    (word) => `The word ${JSON.stringify(word)} mixes letters of several scripts.`,
  ).filter(({ length }) => length > 2),
  ...found(
    text,
    control,
    'warning',
    'control_character',
    () => 'The text has control characters, which terminals obey.',
  ),
]

const found = (
  text: string,
  pattern: RegExp,
  ...[severity, code, message]: readonly [Match['severity'], string, (match: string) => string]
): readonly Match[] =>
  [...text.matchAll(pattern)].slice(0, 20).map((match) => ({
    ...{ severity, code, message: message(match[0]), at: match.index, length: match[0].length },
  }))

/** Describes the ASCII text that tag characters encode. */
const taggedMessage = (run: string): string => {
  const spelt = [...run].map((each) => String.fromCharCode((each.codePointAt(0) ?? 0) - 0xe0000)).join('')
  return `Invisible tag characters spell ${JSON.stringify(spelt.slice(0, 80))}.`
}

/** Returns text that is hidden from a reader: comments, and markup without size, colour or display. */
export const concealed = (text: string): readonly { readonly at: number; readonly text: string }[] =>
  concealing
    .flatMap((pattern) => [...text.matchAll(pattern)].map((match) => ({ at: match.index, text: match[0] })))
    .filter(({ at }) => !isShown(text, at))

/** Whether a mark stands in inline code or in quotation marks of its line, where a reader sees it. */
const isShown = (text: string, at: number): boolean => {
  const prefix =
    text
      .slice(Math.max(0, at - 1_000), at)
      .split('\n')
      .at(-1) ?? ''
  return (prefix.split('`').length & 1) === 0 || (prefix.split('"').length & 1) === 0
}

const concealing = [
  /<!--[\s\S]{3,4000}?-->/gu,
  /^\[\/\/\]: # [("'][^\n]{3,2000}/gmu,
  /<(?:span|div|p|font|small|details|section)\b[^>\n]{0,200}(?:display\s{0,2}:\s{0,2}none|visibility\s{0,2}:\s{0,2}hidden|font-size\s{0,2}:\s{0,2}0|opacity\s{0,2}:\s{0,2}0(?![.\d])|color\s{0,2}:\s{0,2}(?:white|#fff(?:fff)?\b|transparent)|\bhidden\b)[^>\n]{0,200}>[^<]{3,4000}/giu,
]

/** Returns hidden text without the marks that hide it. */
export const uncovered = (text: string): string => text.replaceAll(/<!--|-->|<[^>]{0,400}>|^\[\/\/\]: # /gu, ' ')
