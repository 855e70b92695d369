/** Decoded text, with the position of its encoded form. */
export interface Decoded {
  readonly at: number
  readonly length: number
  readonly text: string
}

const maxDecoded = 200
const base64 = /(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/_-]{24,20000}={0,2}/gu
const hex = /(?<![A-Fa-f0-9])(?:[0-9a-fA-F]{2}){16,8000}(?![A-Fa-f0-9])/gu
const escapes = /(?:\\x[0-9a-fA-F]{2}|\\u00[0-9a-fA-F]{2}){8,4000}/gu
const percent = /(?:[\w.~-]{0,40}%[0-9a-fA-F]{2}){8,4000}[\w.~-]{0,40}/gu
const entities = /(?:&#(?:x[0-9a-fA-F]{2,5}|\d{2,6});){8,4000}/gu
const codes =
  /(?:fromCharCode|chr|bytes|bytearray|Buffer\.from)\s{0,2}\(?\s{0,2}[([]?\s{0,2}((?:(?:0x[0-9a-fA-F]{1,4}|\d{2,3})\s{0,2},\s{0,2}){8,4000}(?:0x[0-9a-fA-F]{1,4}|\d{2,3}))/gu
const turned = /\b(?:rot-?13|caesar|reversed?)\b/iu

/** Returns readable texts that are encoded within a text; one level of encoding is decoded. */
export const encodedTexts = (text: string): readonly Decoded[] => [
  ...readable(text, base64, (run) => Buffer.from(run, /[-_]/u.test(run) ? 'base64url' : 'base64').toString('utf8')),
  ...readable(text, hex, (run) => Buffer.from(run, 'hex').toString('utf8')),
  ...readable(text, escapes, (run) => Buffer.from(run.replaceAll(/\\x|\\u00/gu, ''), 'hex').toString('utf8')),
  ...readable(text, percent, percentDecoded),
  ...readable(text, entities, entityDecoded),
  ...readable(text, codes, (run) =>
    [...run.matchAll(/0x[0-9a-fA-F]{1,4}|\d{2,3}/gu)].map(([code]) => String.fromCharCode(Number(code))).join(''),
  ),
  ...(turned.test(text) ? turnedLines(text) : []),
]

const readable = (text: string, pattern: RegExp, decode: (run: string) => string): readonly Decoded[] =>
  [...text.matchAll(pattern)].slice(0, maxDecoded).flatMap((match) => {
    const decoded = decode(match[0])
    return isReadable(decoded) ? [{ at: match.index, length: match[0].length, text: decoded }] : []
  })

/** Whether a decoded text is readable: almost only printable characters, with words; or base64 again. */
const isReadable = (text: string): boolean => {
  if (text.length < 8 || text.includes('\ufffd')) return false
  const printable = text.match(/[\p{L}\p{N}\p{P}\p{S}\s]/gu)?.length ?? 0
  if (/^[A-Za-z0-9+/]{24,}={0,2}$/u.test(text)) return true
  return printable / [...text].length > 0.97 && /[\s/.:]/u.test(text) && /\p{L}{3}/u.test(text)
}

const percentDecoded = (run: string): string => {
  try {
    return decodeURIComponent(run)
  } catch {
    return ''
  }
}

const entityDecoded = (run: string): string =>
  [...run.matchAll(/&#(x?)([0-9a-fA-F]{2,6});/gu)]
    .map(([, isHex, code]) => Number.parseInt(code ?? '', isHex === 'x' ? 16 : 10))
    .map((code) => (code <= 0x10ffff ? String.fromCodePoint(code) : ''))
    .join('')

/** Returns each line decoded with ROT13, and reversed. */
const turnedLines = (text: string): readonly Decoded[] => {
  const decoded: Decoded[] = []
  let at = 0
  for (const line of text.split('\n').slice(0, 2000)) {
    if (line.trim().length >= 12) {
      decoded.push({ at, length: line.length, text: line.replaceAll(/[a-z]/giu, moved) })
      decoded.push({ at, length: line.length, text: [...line].reverse().join('') })
    }
    at += line.length + 1
  }
  return decoded
}

const moved = (letter: string): string => {
  const code = letter.charCodeAt(0)
  const base = code < 97 ? 65 : 97
  return String.fromCharCode(((code - base + 13) % 26) + base)
}
