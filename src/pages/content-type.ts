import { mimeTypeOf } from './mime-type.ts'

/** Kind of page, which determines how it is read. */
export type PageKind = 'html' | 'json' | 'xml' | 'markdown' | 'text' | 'pdf'

export interface PageType {
  /** MIME type without parameters, in lower case. */
  readonly mimeType: string
  readonly kind: PageKind
  /** Charset declared in the header. */
  readonly charset: string | null
}

const kinds: Readonly<Record<string, PageKind>> = {
  'text/html': 'html',
  'application/xhtml+xml': 'html',
  'application/json': 'json',
  'text/json': 'json',
  'application/ld+json': 'json',
  'application/xml': 'xml',
  'text/xml': 'xml',
  'text/markdown': 'markdown',
  'text/x-markdown': 'markdown',
  'text/plain': 'text',
  'application/pdf': 'pdf',
}

/** Signatures of binary formats; `?` matches any byte. */
const signatures: readonly (readonly [mimeType: string, ...starts: readonly string[]])[] = [
  ['application/pdf', '%PDF-'],
  ['image/png', '\u0089PNG\r\n'],
  ['image/jpeg', '\u00ff\u00d8\u00ff'],
  ['image/gif', 'GIF87a', 'GIF89a'],
  ['image/webp', 'RIFF????WEBP'],
  ['audio/wav', 'RIFF????WAVE'],
  ['application/zip', 'PK\u0003\u0004', 'PK\u0005\u0006'],
  ['application/gzip', '\u001f\u008b\u0008'],
  ['application/x-bzip2', 'BZh9'],
  ['application/x-xz', '\u00fd7zXZ\u0000'],
  ['application/zstd', '(\u00b5/\u00fd'],
  ['application/x-7z-compressed', '7z\u00bc\u00af\u0027\u001c'],
  ['application/x-rar', 'Rar!\u001a\u0007'],
  ['application/x-elf', '\u007fELF'],
  ['application/x-msdownload', 'MZ\u0090\u0000'],
  ['application/wasm', '\u0000asm'],
  ['audio/mpeg', 'ID3\u0003', 'ID3\u0004'],
  ['application/ogg', 'OggS\u0000'],
  ['audio/flac', 'fLaC'],
  ['video/mp4', '????ftyp'],
  ['video/webm', '\u001aE\u00df\u00a3'],
  ['font/woff', 'wOFF'],
  ['font/woff2', 'wOF2'],
  ['application/x-sqlite3', 'SQLite format 3\u0000'],
  ['application/msword', '\u00d0\u00cf\u0011\u00e0'],
]

/**
 * Determines the type of a page by its header, or by its bytes when the header is missing or generic. Null for an
 * unsupported type, and for binary data declared as text.
 */
export const pageTypeOf = (header: string | null, bytes: Uint8Array): PageType | null => {
  const declared = mimeTypeOf(header)
  const [essence, charset] = [declared?.essence ?? null, declared?.params.get('charset') ?? null]
  const signature = signatureOf(bytes)
  const isUnsaid = essence === null || essence === 'application/octet-stream' || essence === 'application/unknown'
  const mimeType = isUnsaid ? (signature ?? textTypeOf(bytes)) : essence
  const kind = kindOf(mimeType)
  if (kind === null) return null
  if (kind === 'pdf') return signature === 'application/pdf' ? { mimeType, kind, charset: null } : null
  if (signature !== null || isBinary(bytes, isUnsaid ? 0 : maxControls[kind])) return null
  return { mimeType, kind, charset }
}

const kindOf = (mimeType: string): PageKind | null => {
  const known = kinds[mimeType]
  if (known !== undefined) return known
  if (mimeType.startsWith('image/')) return null
  return mimeType.endsWith('+json') ? 'json' : mimeType.endsWith('+xml') ? 'xml' : null
}

/** Returns the MIME type of a binary format by its first bytes; null for any other content. */
export const signatureOf = (bytes: Uint8Array): string | null => {
  const isAt = (start: string): boolean =>
    bytes.length >= start.length && [...start].every((c, at) => c === '?' || c.charCodeAt(0) === bytes[at])
  return signatures.find(([, ...starts]) => starts.some(isAt))?.[0] ?? null
}

/** Detects the type of a text without a declared type. */
const textTypeOf = (bytes: Uint8Array): string => {
  const start = new TextDecoder('latin1').decode(bytes.subarray(0, 512)).replace(/^(?:\u00ef\u00bb\u00bf)?\s*/, '')
  if (/^(?:<!--|<!doctype\s+html|<(?:html|head|body|title|script|div|p|h1|a|table|br|style)[\s>])/i.test(start))
    return 'text/html'
  if (start.startsWith('<?xml')) return 'application/xml'
  return /^[[{]\s*(?:["[{\]}]|-?\d|true|false|null)/.test(start) ? 'application/json' : 'text/plain'
}

/**
 * Maximum share of control characters of a declared type, beyond which the content is binary data. Browsers accept any
 * number in markup; text that is declared as plain is often a binary file that the server does not know.
 */
const maxControls: Readonly<Record<Exclude<PageKind, 'pdf'>, number>> = {
  ...{ html: 0.1, xml: 0.1, json: 0.1 },
  ...{ markdown: 0.01, text: 0.01 },
}

/**
 * Whether more than a share of the first bytes are control characters that text does not have. UTF-16 and UTF-32
 * contain zero bytes and are detected by their byte order mark or by the alternation of zeros.
 */
const isBinary = (bytes: Uint8Array, share: number): boolean => {
  if (wideCharset(bytes) !== null) return false
  const start = bytes.subarray(0, 4096)
  return start.filter(isControl).length > start.length * share
}

const isControl = (byte: number): boolean =>
  byte < 9 || byte === 11 || (byte > 13 && byte < 27) || (byte > 27 && byte < 32)

/** Detects UTF-16, by its byte order mark or by the positions of zero bytes. */
export const wideCharset = (bytes: Uint8Array): 'utf-16le' | 'utf-16be' | null => {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  const start = bytes.subarray(0, 64)
  if (start.length < 4) return null
  const zeros = (parity: number): number => start.filter((byte, at) => at % 2 === parity && byte === 0).length
  const half = Math.floor(start.length / 2)
  if (zeros(1) >= half * 0.7 && zeros(0) === 0) return 'utf-16le'
  return zeros(0) >= half * 0.7 && zeros(1) === 0 ? 'utf-16be' : null
}
