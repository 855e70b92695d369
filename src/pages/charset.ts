import { type PageType, wideCharset } from './content-type.ts'

/** Text of a page, and its encoding. */
export interface DecodedPage {
  readonly text: string
  readonly charset: string
}

/** Default encodings by language, for pages that declare none (WHATWG HTML, "the default encoding of the locale"). */
const legacyOf: Readonly<Record<string, string>> = {
  ...{ ar: 'windows-1256', fa: 'windows-1256', be: 'windows-1251', bg: 'windows-1251', ru: 'windows-1251' },
  ...{ uk: 'windows-1251', sr: 'windows-1251', mk: 'windows-1251', ky: 'windows-1251', tg: 'windows-1251' },
  ...{ cs: 'windows-1250', hu: 'iso-8859-2', pl: 'iso-8859-2', sk: 'windows-1250', sl: 'iso-8859-2' },
  ...{ el: 'iso-8859-7', he: 'windows-1255', tr: 'windows-1254', th: 'windows-874', vi: 'windows-1258' },
  ...{ et: 'windows-1257', lt: 'windows-1257', lv: 'windows-1257' },
  ...{ ja: 'shift_jis', ko: 'euc-kr', zh: 'gb18030', 'zh-tw': 'big5', 'zh-hk': 'big5', 'zh-hant': 'big5' },
}

/**
 * Decodes a page: by its byte order mark, the header, and the declaration in the page, in this order; otherwise as
 * UTF-8 if the bytes are valid, or else in the default encoding of its language. A declared charset in which the bytes
 * are invalid is ignored if another one fits.
 */
export const decodedPage = (bytes: Uint8Array, { kind, charset }: PageType): DecodedPage => {
  const marked = markOf(bytes)
  if (marked !== null) return { text: decoded(bytes, marked, false) ?? '', charset: marked }
  const start = new TextDecoder('latin1').decode(bytes.subarray(0, 4096))
  const declared = [charset, declaredIn(start, kind), wideCharset(bytes)].map(labelOf).filter((label) => label !== null)
  const guesses = kind === 'json' ? ['utf-8'] : ['utf-8', legacyFor(start)]
  for (const label of [...declared, ...guesses]) {
    const text = decoded(bytes, label, true) ?? (label === 'utf-8' ? nearlyUtf8(bytes) : null)
    if (text !== null) return { text, charset: label }
  }
  const [label = 'utf-8'] = declared
  return { text: decoded(bytes, label, false) ?? '', charset: label }
}

/**
 * Decodes almost valid UTF-8: a truncated or stray character does not mean another encoding. Null once invalid
 * sequences are a tenth as many as the valid non-ASCII characters.
 */
const nearlyUtf8 = (bytes: Uint8Array): string | null => {
  const text = decoded(bytes, 'utf-8', false) ?? ''
  const wrong = text.match(/\ufffd/g)?.length ?? 0
  const right = text.match(/[^\0-\x7f\ufffd]/g)?.length ?? 0
  return wrong * 10 < right ? text : null
}

const markOf = (bytes: Uint8Array): string | null => {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8'
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : null
}

/** Returns the charset declared in the page's first bytes. A declaration readable as ASCII rules out UTF-16. */
const declaredIn = (start: string, kind: PageType['kind']): string | null => {
  const xml = /^\s*<\?xml[^>]{0,200}?\sencoding\s*=\s*["']([\w.:-]+)["']/i.exec(start)?.[1]
  const label = xml ?? (kind === 'html' ? metaCharset(withoutComments(start)) : null)
  return label !== null && /^utf-?16/i.test(label) ? 'utf-8' : label
}

const metaCharset = (start: string): string | null => {
  for (const [tag] of start.matchAll(/<meta\s[^<>]{0,400}/gi)) {
    const at = tag.toLowerCase().indexOf('charset')
    const rest = at === -1 ? '' : tag.slice(at + 'charset'.length).trimStart()
    if (!rest.startsWith('=')) continue
    const label = /^[\w.:-]+/.exec(rest.slice(1).trimStart().replace(/^["']/, '').trimStart())
    if (label !== null) return label[0]
  }
  return null
}

const withoutComments = (start: string): string => start.replace(/<!--[\s\S]{0,2000}?-->/g, '')

const legacyFor = (start: string): string => {
  const language = /<html\s[^>]{0,400}?lang\s*=\s*["']?([a-z]{2,3}(?:-[a-z]+)?)/i.exec(start)?.[1]?.toLowerCase() ?? ''
  return legacyOf[language] ?? legacyOf[language.split('-', 1).join('')] ?? 'windows-1252'
}

/** Returns the canonical name of an encoding; null for an unknown or unsupported one. */
const labelOf = (label: string | null): string | null => {
  if (label === null) return null
  try {
    return new TextDecoder(label).encoding
  } catch {
    return null
  }
}

const decoded = (bytes: Uint8Array, label: string, fatal: boolean): string | null => {
  try {
    return new TextDecoder(label, { fatal }).decode(bytes)
  } catch {
    return null
  }
}
