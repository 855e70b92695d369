const longest = 8_192

/** Letters one by one, with the same sign between all of them: "i g n o r e", "i-g-n-o-r-e". */
const spaced = /(?<![\p{L}\p{N}])\p{L}(?:([ ~\-_./*|+·])\p{L}['’]?){2,}(?!\p{L})/gu
const spacedWide = /[\u3040-\u30ff\u4e00-\u9fff](?:[~\-_./*|+· ]{1,2}[\u3040-\u30ff\u4e00-\u9fff、，。]){4,}/gu
const encoded = /(?<![\w+/=])[A-Za-z0-9+/]{16,2048}={0,2}(?![\w+/=])/g
const percent = /(?:%[0-9A-Fa-f]{2}){3,}/g
const readable = /^[\p{L}\p{N}\p{P}\p{Zs}\p{S}\n\r\t]+$/u

/** Words that show that a text was written backwards, or with its letters rotated. */
const english = /\b(?:the|and|all|user|your|ignore|instructions)\b/i

/** A word in which a letter was replaced by a similar sign. */
const mixed = /(?:[a-z]|\b)[013457@$][a-z]|[a-z][аеорсухіѕ]|[аеорсухіѕ][a-z]/i

/** Characters that replace similar letters to evade a filter. */
const lookalikes: ReadonlyMap<string, string> = new Map(
  'аa еe оo рp сc уy хx іi ѕs 0o 1i 3e 4a 5s @a $s 7t'.split(' ').map((pair) => [pair.slice(0, 1), pair.slice(1)]),
)

/** Returns the ways in which a model might read a text: as written, and without what hides its words. */
export const readingsOf = (text: string): readonly string[] => {
  const plain = text.slice(0, longest).normalize('NFKC').replaceAll('’', "'")
  const joined = plain
    .replace(/ {2,4}/g, '\u0001')
    .replace(spaced, (run, sign: string) => run.replaceAll(sign, ''))
    .replace(spacedWide, (run) => run.replace(/[~\-_./*|+· ]/g, ''))
    .replaceAll('\u0001', ' ')
  const alike = plain.replaceAll(/[аеорсухіѕ013457@$]/g, (sign) => lookalikes.get(sign) ?? sign)
  const reversed = [...plain].toReversed().join('')
  const turned = [reversed, rotated(plain)].filter((reading) => english.test(reading))
  const found = [joined, ...(mixed.test(plain) ? [alike] : []), ...turned, ...decodedIn(plain)]
  return [plain, ...new Set(found.filter((reading) => reading !== plain))]
}

const rotated = (text: string): string =>
  text.replace(/[a-z]/gi, (letter) => {
    const first = letter <= 'Z' ? 65 : 97
    return String.fromCharCode(((letter.charCodeAt(0) - first + 13) % 26) + first)
  })

const decodedIn = (text: string): readonly string[] => {
  const found: string[] = []
  for (const [run] of text.matchAll(encoded)) {
    const decoded = Buffer.from(run, 'base64').toString()
    if (decoded.includes(' ') && readable.test(decoded)) found.push(decoded)
  }
  if (percent.test(text)) found.push(text.replace(percent, unescaped))
  return found
}

const unescaped = (run: string): string => Buffer.from(run.replaceAll('%', ''), 'hex').toString()
