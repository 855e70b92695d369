import type { Match } from './finding.ts'
import {
  asContent,
  correcting,
  followed,
  fromAttacker,
  judging,
  orderedBefore,
  orderedIn,
  reassuring,
} from './mention-words.ts'

/** Words of a text that teaches, detects or forbids what it quotes, in several languages. */
const defensive =
  /(?<!\p{L})(?:detect|flag(?:s|ged|ging)?\b|recogni[sz]|look (?:out )?for|watch for|attack|adversar|malicious|injection|jailbreak|exploit|vulnerab|suspicious|red[- ]?flag|threat|phishing|forbid|prohibit|reject|refuse|anti-?pattern|bad (?:example|pattern|practice)|insecure|unsafe|dangerous|harmful|hostile|tamper|poison|payload|warning sign|danger sign|indicator|test case|must not|never (?:run|use|execute|paste|do|copy|follow|write|type|accept|pipe)|do not (?:run|use|execute|paste|follow|copy|type|pipe)|don['’]t (?:run|use|execute|paste|follow|copy|type|pipe)|avoid\b|instead of\b|wrong\b|❌|⚠|🚫|✗|gefährlich|verdächtig|bösartig|schädlich|angriff|warnzeichen|niemals|verboten|unsicher|falsch|peligros|malicios|sospechos|ataque|señal(?:es)? de|nunca (?:ejecut|us)|no (?:se )?deben? (?:ser )?(?:obede|segui|ejecut|cumpli)|não (?:se )?devem? (?:ser )?(?:obede|segui|execut|cumpri)|ne doi(?:ven)?t pas être|non (?:vanno|devono essere|si devono) (?:esegu|segu|obbed)|nicht (?:zu )?(?:befolg|ausgeführt|ausführen)|niet (?:op)?gevolgd|не (?:следует |нужно |надо )?(?:выполня|исполня|подчиня)|prohibid|insegur|dangereu|malveillant|suspect|attaque|jamais (?:ex[eé]cut|utilis)|interdit|signes? d|perigos|suspeit|ataque|sinais de|proibid|pericolos|dannos|sospett|attacc|vietat|segnali di|gevaarlijk|kwaadaardig|verdacht|aanval|verboden|опасн|вредонос|подозрит|атак|запрещ|признак|никогда не (?:запуск|выполн)|tehlikeli|kötü niyetli|şüpheli|saldırı|yasak)|危险|恶意|可疑|攻击|切勿|禁止|注入|危険|悪意|不審|攻撃|怪しい|위험|악성|의심|공격|금지|خطير|خبيث|مشبوه|هجوم|ممنوع|حقن|खतर|दुर्भावना|संदिग्ध|हमल|इंजेक्शन/iu

/** An act that is forbidden in the same clause before it. */
const forbidding =
  /(?:\bnever|\bdo not|\bdon['’]t|\bmust not|\bshould not|\bavoid|\brefuse to|\bcannot|\bwithout ever|\binstead of|\brather than|❌|\bniemals|\bnicht|\bnie\b|\bnunca|\bjamais|\bne\b|\bnão|\bnon\b|\bmai\b|\bnooit|\bniet|никогда|нельзя|(?<!\p{L})не |不要|不得|切勿|禁止|请勿|避免|لا )[^.:;!?\n。：；！？]{0,60}$/iu
const forbiddenAfter =
  /^[^.\n。]{0,80}(?:ないで|しないこと|禁止|してはいけ|하지 마|금지|न करें|मत |yapma|etme(?:yin)?\b|is (?:forbidden|prohibited|not allowed))/iu

/** A sentence that attributes an action to an attacker. */
const attributed =
  /(?:\battackers?|\badversar(?:y|ies)|\bmalicious (?:actors?|users?|skills?|pages?|servers?)|\bthreat actors?|angreifer|atacantes?|attaquants?|aggressori|aanvallers?|злоумышленник|saldırgan|攻击者|攻撃者|공격자|المهاجم|हमलावर)[^.\n]{0,120}$/iu

/** What somebody in a story says, and what a log showed: it happened, or was made up, and is no order. */
const narrated =
  /(?:\b(?:logs?|history|trace|output|alert|report|note|journal)\b[^.\n‖]{0,30}\b(?:show|contain|read|say|include|reveal)(?:s|ed)?\b[^.\n‖]{0,40}[`"'“:]?‖)|["”'»][^\n.]{0,4}\b(?:said|says|asked|whispered|replied|cried)\b|\b(?:said|says|whispered|cried) the\b/iu

/** What a skill says that it is for, when it is about attacks. */
const security =
  /\b(?:security|secure|audit|injection|malicious|malware|red[- ]?team|pentest|penetration|vulnerab|threat|phishing|jailbreak|moderat|guardrail|incident|forensic|scanner|(?:review|vet|check|inspect)\w{0,4} (?:of )?(?:[\w-]{1,20} ){0,3}(?:skills?|plugins?|prompts?|mcp|extensions?)\b|skill (?:review|audit|scan|check))|sicherheit|angriff|inje[cç][aã]o|inyecci[oó]n|iniezion|injectie|инъекц|enjeksiyon|注入|インジェクション|인젝션|seguridad|sécurité|segurança|sicurezza|beveilig|безопасн|güvenlik|安全|セキュリティ|보안|أمن|सुरक्षा/iu

/** Returns whether a skill is about attacks, by its name, its description and its first heading. */
export const isAboutSecurity = (text: string): boolean => {
  const front = /^\ufeff?---\r?\n([\s\S]{0,4096}?)\r?\n---/u.exec(text)?.[1] ?? ''
  const heading = /^# [^\n]{0,200}/mu.exec(text)?.[0] ?? ''
  return security.test(front) || security.test(heading)
}

/** Characters of a line around a match that are looked at. */
const longestLine = 2_000

const before = 320
const after = 160

interface Place {
  readonly at: number
  readonly length: number
  /** Whether the act is to leave something undone, so that a "not" before it forbids nothing. */
  readonly isOmission?: boolean
}

/**
 * Returns a function that determines whether a match is only mentioned, and not an instruction: it is forbidden, or
 * quoted in a context of detection and defence. In a skill about attacks, what stands in quotation marks and tables is
 * taken for a quotation.
 */
export const speechOf = (text: string, isSecurity = false): ((place: Place) => boolean) => {
  let fences: readonly number[] | undefined
  const openedAt = (at: number): number | undefined => {
    fences ??= [...text.matchAll(fence)].map(({ index }) => index)
    const earlier = fences.filter((index) => index < at)
    return (earlier.length & 1) === 1 ? earlier.at(-1) : undefined
  }
  return (place) => isMentioned(text, withinCode(text, place), { openedAt, isSecurity })
}

const option = /^[-*+•|>#\d.) \t]{0,8}[`*]{0,3}--?[a-z][\w-]{0,40}|\s--?[a-z][\w-]{0,40}\b[^#\n]{0,80}\s#\s/iu

/** Whether a match says which confirmations an option of a program skips: its line begins with one, or it comments a command that has one. */
export const isOfOption = (text: string, { code, at, length }: Pick<Match, 'code' | 'at' | 'length'>): boolean =>
  code === 'bypasses_approval' &&
  option.test(text.slice(Math.max(text.lastIndexOf('\n', at - 1) + 1, at - 200), at + length))

/** Returns a place in inline code without what its match took beyond the code. */
const withinCode = (text: string, place: Place): Place => {
  const { at, length } = place
  const end = text.slice(at, at + length).indexOf('`')
  if (end < 1) return place
  const line = text.slice(Math.max(text.lastIndexOf('\n', at - 1) + 1, at - longestLine), at)
  return (line.split('`').length & 1) === 0 ? { ...place, length: end } : place
}

interface Surroundings {
  readonly openedAt: (at: number) => number | undefined
  readonly isSecurity: boolean
}

const isMentioned = (text: string, place: Place, { openedAt, isSecurity }: Surroundings): boolean => {
  const { at, length, isOmission = false } = place
  const prefix = text.slice(Math.max(0, at - before), at)
  const opened = openedAt(at)
  if (
    opened === undefined &&
    !isOmission &&
    (forbidding.test(prefix.slice(-100)) || forbiddenAfter.test(text.slice(at, at + length + 100)))
  )
    return true
  if (attributed.test(prefix.slice(-160)) || narrated.test(`${prefix.slice(-120)}‖${text.slice(at, at + length + 80)}`))
    return true
  if (opened !== undefined) return isIntroduced(text, { opened, at }, isSecurity)
  const row = rowAround(text, place)
  if (row === undefined && !isQuoted(text, place)) return false
  if (isOrdered(text, place)) return false
  return (
    isSecurity ||
    defensive.test(prefix) ||
    defensive.test(text.slice(at + length, at + length + after)) ||
    isListed(prefix) ||
    speaksOf(row === undefined ? sentenceAround(text, place) : `${row.head} ${row.own}`) ||
    correcting.test(row?.head ?? '')
  )
}

/** Whether words call what they speak of bad. */
const isBad = (words: string): boolean => {
  const rest = words.replaceAll(reassuring, ' ')
  return defensive.test(rest) || judging.test(rest)
}

/** Whether words speak of a quotation as something bad, or as content. */
const speaksOf = (words: string): boolean => isBad(words) || asContent.test(words)

/** Whether a quotation is no mention: it is to be run, or what it says is to be done. */
const isOrdered = (text: string, place: Place): boolean => {
  const { at, length } = place
  const [prefix, rest] = aroundIn(text, place)
  return (
    orderedBefore.test(prefix) ||
    followed.test(prefix) ||
    followed.test(text.slice(at + length, at + length + after) || rest)
  )
}

/** Where a paragraph begins, an item of a list too. */
const paragraph = /\n[ \t]{0,8}(?:\n|[-*+] |\d{1,3}[.)] |#{1,6} )/gu
const stop = /[.!?](?=\s)|[。！？]/gu

/** Returns what stands before and after a place in its sentence. */
const aroundIn = (text: string, { at, length }: Place): readonly [prefix: string, rest: string] => {
  const before = afterLast(text.slice(Math.max(0, at - longestSentence), at), paragraph)
  const prefix = afterLast(before, stop).trimStart()
  const rest = text.slice(at + length, at + length + longestSentence)
  const end = rest.search(/\n[ \t]{0,8}(?:\n|[-*+] |\d{1,3}[.)] |#{1,6} )/u)
  return [prefix, /^(?:[^.!?。！？]|[.!?](?!\s)){0,600}/u.exec(end < 0 ? rest : rest.slice(0, end))?.[0] ?? '']
}

const longestSentence = 600

const afterLast = (text: string, ends: RegExp): string => {
  const last = [...text.matchAll(ends)].at(-1)
  return last === undefined ? text : text.slice(last.index + last[0].length)
}

const sentenceAround = (text: string, place: Place): string => aroundIn(text, place).join(' ')

interface Row {
  readonly head: string
  readonly own: string
}

/** Returns the head and the row of the table that a place stands in; undefined outside of tables. */
const rowAround = (text: string, { at, length }: Place): Row | undefined => {
  const start = text.lastIndexOf('\n', at - 1) + 1
  if (!/^[ \t]{0,12}\|/u.test(text.slice(start, start + 16))) return undefined
  const rows = text
    .slice(Math.max(0, start - longestTable), start)
    .split('\n')
    .slice(0, -1)
  const head = rows.slice(rows.findLastIndex((row) => !/^[ \t]{0,12}\|/u.test(row)) + 1)[0] ?? ''
  const end = text.indexOf('\n', at + length)
  const rest = text.slice(at + length, Math.min(end < 0 ? text.length : end, at + length + longestLine))
  return { head: head.slice(0, longestLine), own: `${text.slice(Math.max(start, at - longestLine), at)} ${rest}` }
}

const longestTable = 8_000

/** Whether a block of code is introduced as an attack: by the sentence above it, its heading, or a comment within it. */
const isIntroduced = (
  text: string,
  { opened, at }: { readonly opened: number; readonly at: number },
  isSecurity: boolean,
): boolean => {
  const above = text
    .slice(Math.max(0, opened - 1_500), opened)
    .trimEnd()
    .split('\n')
  const intro = introOf(above)
  const heading = above.findLast((each) => /^#{1,6} /u.test(each)) ?? ''
  const comment = text
    .slice(opened, at)
    .split('\n')
    .slice(-3)
    .filter((each) => /^\s{0,8}(?:#|\/\/|--|<!--)/u.test(each))
    .join(' ')
  const info = text.slice(opened, text.indexOf('\n', opened))
  if (orderedIn.test(intro) || followed.test(intro)) return false
  const remark = remarkOn(text, at)
  const end = text.slice(at, at + longestTable).search(/\n[ \t>]{0,12}(?:```|~~~)/u)
  const later = end < 0 ? '' : text.slice(at + end, at + end + 300)
  const isReported =
    isBad(intro) ||
    isBad(heading) ||
    defensive.test(comment) ||
    isBad(remark) ||
    fromAttacker.test(later) ||
    /\b(?:bad|wrong|attack|unsafe|malicious)\b/iu.test(info)
  return (
    isReported ||
    (isSecurity &&
      /example|beispiel|ejemplo|exemple|exemplo|esempio|voorbeeld|пример|örnek|例|예|مثال|उदाहरण|pattern|sample|case/iu.test(
        intro + heading,
      ))
  )
}

/** Returns the remark beside a text that stands in a list of texts. */
const remarkOn = (text: string, at: number): string => {
  const isListed = /(?:^|\n)[ \t]{0,40}["'][^"'\n]{0,400}$/u.test(text.slice(Math.max(0, at - 450), at))
  const line = /^[^\n]{0,400}/u.exec(text.slice(at))?.[0] ?? ''
  return isListed ? (/["'],?\s{0,8}(?:#|\/\/)([^\n]{0,200})$/u.exec(line)?.[1] ?? '') : ''
}

/** Returns the sentence that ends above a block; with the one before, when it only says that an example follows. */
const introOf = (above: readonly string[]): string => {
  const from = above.findLastIndex((line) => line.trim() === '' || /^[ \t]{0,8}#{1,6} /u.test(line)) + 1
  const lines = above
    .slice(from)
    .join(' ')
    .replace(/^[ \t>]{0,12}(?:[-*+] |\d{1,3}[.)] )?/u, '')
  const sentences = lines.split(/(?<=[.!?])\s|(?<=[。！？])/u).filter((each) => each.trim() !== '')
  const last = sentences.at(-1) ?? ''
  return last.length < 30 && sentences.length > 1 ? `${sentences.at(-2) ?? ''} ${last}` : last
}

/** Whether a heading before it announces attacks or examples of what to look for. */
const isListed = (prefix: string): boolean =>
  /(?:^|\n)#{1,6} [^\n]*(?:indicator|warning sign|test case|anti-?pattern|red flag)/iu.test(prefix)

const fence = /^[ \t>]{0,12}(?:```|~~~)/gmu

/** Whether a match is in backticks or quotation marks, or in a quoted line. */
const isQuoted = (text: string, { at, length }: Place): boolean => {
  const from = Math.max(0, at - longestLine)
  const start = from + text.slice(from, at).lastIndexOf('\n') + 1
  const found = text.slice(at + length, at + length + longestLine).indexOf('\n')
  const end = found < 0 ? Math.min(text.length, at + length + longestLine) : at + length + found
  const line = text.slice(start, end)
  if (/^\s*>/u.test(line)) return true
  const [prefix, rest] = [withoutApostrophes(text.slice(start, at)), withoutApostrophes(text.slice(at + length, end))]
  return pairs.some(([open, close]) => opensIn(prefix, open, close) && rest.includes(close))
}

/** Returns a text without the marks within words, which quote nothing. */
const withoutApostrophes = (text: string): string => text.replaceAll(/(?<=\p{L})['’](?=\p{L})/gu, ' ')

const pairs = [
  ['`', '`'],
  ['"', '"'],
  ['“', '”'],
  ['«', '»'],
  ['„', '“'],
  ['„', '”'],
  ['»', '«'],
  ['‹', '›'],
  ['‘', '’'],
  ['‚', '‘'],
  ['「', '」'],
  ['『', '』'],
  ["'", "'"],
] as const

const opensIn = (prefix: string, open: string, close: string): boolean => {
  if (open === close) return (prefix.split(open).length & 1) === 0
  return prefix.lastIndexOf(open) > prefix.lastIndexOf(close)
}
