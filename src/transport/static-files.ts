import type { Dirent } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip, constants as zlib } from 'node:zlib'
import { entityTag, namesTag } from './entity-tag.ts'
import type { Headers, HttpRequest, HttpResponse } from './http/http-port.ts'

/** Content types by extension. Files with another extension are not served. */
export const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
}

/** A file in memory, with what its answers need. */
export interface StaticFile {
  readonly content: Buffer
  readonly etag: string
  readonly headers: Headers
  /** Encodings offered, smallest result first, and the compressed contents, which are made at their first request. */
  readonly encodings: readonly Encoding[]
  readonly compressed: Map<Encoding, Promise<Buffer>>
}

type Encoding = 'br' | 'gzip'

const [brotli, zip] = [promisify(brotliCompress), promisify(gzip)]

/** Brotli quality, of 0 to 11. The highest saves a further tenth and takes thirty times as long. */
const brotliQuality = { params: { [zlib.BROTLI_PARAM_QUALITY]: 6 } }

const compressors: Readonly<Record<Encoding, (content: Buffer) => Promise<Buffer>>> = {
  br: (content) => brotli(content, brotliQuality),
  gzip: zip,
}

/** Minimum size in bytes for compression; shorter files gain nothing. */
const minCompressed = 256

/**
 * The files of one folder, read once at start. A path is looked up among the names found then, so that no request can
 * traverse to another file.
 */
export class StaticFiles {
  readonly #files: ReadonlyMap<string, StaticFile>

  constructor(files: ReadonlyMap<string, StaticFile>) {
    this.#files = files
  }

  /** Answers a GET or HEAD of one of the files, `/` being `/index.html`; false when the path is none of them. */
  answer(request: HttpRequest, response: HttpResponse): boolean {
    if (request.method !== 'GET' && request.method !== 'HEAD') return false
    const file = this.#files.get(request.path === '/' ? '/index.html' : request.path)
    if (file === undefined) return false
    const accepted = request.header('accept-encoding') ?? ''
    const encoding = file.encodings.find((each) => accepts(accepted, each))
    const etag = encoding === undefined ? file.etag : tagOf(file.etag, encoding)
    const headers: Headers = [...file.headers, ['etag', etag]]
    if (namesTag(request.header('if-none-match'), etag)) response.send(304, headers, '')
    else if (encoding === undefined) response.send(200, headers, file.content)
    else {
      const encoded: Headers = [...headers, ['content-encoding', encoding]]
      void compressed(file, encoding).then((content) => response.closed || response.send(200, encoded, content))
    }
    return true
  }
}

/**
 * Reads every file under `folder`, and the files in `open`, keyed by the path they are served under, which pages of
 * every origin may read.
 *
 * @throws when a file cannot be read.
 */
export const readStaticFiles = async (
  folder: string,
  open: Readonly<Record<string, string>> = {},
): Promise<StaticFiles> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = new Map<string, StaticFile>()
  const readEntry = async (entry: Dirent): Promise<void> => {
    const type = contentTypes[extname(entry.name)]
    if (!entry.isFile() || type === undefined) return
    const path = join(entry.parentPath, entry.name)
    const content = await readFile(path)
    const served = isShortened(entry.name) ? Buffer.from(servedText(entry.name, content.toString())) : content
    files.set(`/${relative(folder, path).split(sep).join('/')}`, staticFile(served, type))
  }
  await Promise.all(entries.map(readEntry))
  for (const [path, file] of Object.entries(open)) {
    const served = staticFile(await readFile(file), contentTypes[extname(file)] ?? '')
    files.set(path, { ...served, headers: [...served.headers, ['access-control-allow-origin', '*']] })
  }
  return new StaticFiles(files)
}

const isShortened = (name: string): boolean => name.endsWith('.js') || name.endsWith('.css')

/** The text of a file as it is served: without what only its readers need. */
export const servedText = (name: string, text: string): string => {
  if (name.endsWith('.css')) return withoutSpaces(text)
  return name.endsWith('.js') ? withoutComments(text) : text
}

/** A style sheet without its comments and the space around braces, semicolons and commas. */
const withoutSpaces = (css: string): string =>
  css
    .replaceAll(/\/\*(?:[^*]|\*(?!\/))*\*\/\n?/g, '')
    .replaceAll(/([{};,])[ \n]+/g, '$1')
    .replaceAll(' {', '{')

/**
 * A module without its comments on lines of their own and its casts, which only readers and the type checker need: a
 * fifth of what a page would load.
 */
const withoutComments = (text: string): string =>
  unindented(
    text
      .replaceAll(/^ *\/\*\*(?:[^*]|\*(?!\/))*\*\/\n/gm, '')
      .replaceAll(/^ *\/\/.*\n/gm, '')
      .replaceAll(/\/\*\* @type \{[^*\n]*\} \*\/ ?/g, ''),
  )

/** Lines without the spaces before them, except within a text of several lines. */
const unindented = (text: string): string => {
  let inText = false
  const lines = text.split('\n').map((line) => {
    const shown = inText ? line : line.trimStart()
    if (line.split('`').length % 2 === 0) inText = !inText
    return shown
  })
  return lines.join('\n')
}

/** Whether `Accept-Encoding` lists the encoding with a weight other than 0 (RFC 9110, section 12.5.3). */
const accepts = (header: string, encoding: string): boolean =>
  header.split(',').some((part) => {
    const [name = '', ...params] = part.split(';').map((each) => each.trim().toLowerCase())
    return name === encoding && !params.some((param) => /^q=0(\.0*)?$/.test(param))
  })

/** Entity tag of an encoded file: strong tags identify bytes, and those differ by encoding. */
const tagOf = (etag: string, encoding: string): string => `${etag.slice(0, -1)}-${encoding}"`

/** Compresses a file once, even if several requests arrive meanwhile. */
const compressed = (file: StaticFile, encoding: Encoding): Promise<Buffer> => {
  const content = file.compressed.get(encoding) ?? compressors[encoding](file.content)
  file.compressed.set(encoding, content)
  return content
}

const encodingsOf = (content: Buffer, type: string): readonly Encoding[] =>
  content.length < minCompressed || /^(image\/(png|x-icon)|font)/.test(type) ? [] : ['br', 'gzip']

/** A file that is served with its entity tag, compressed for those who accept it, under the console's content policy. */
export const staticFile = (content: Buffer, type: string): StaticFile => ({
  content,
  etag: entityTag(content),
  encodings: encodingsOf(content, type),
  compressed: new Map(),
  headers: [
    ['content-type', type],
    ['vary', 'accept-encoding'],
    ['cache-control', 'no-cache'],
    ['content-security-policy', "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"],
    ['x-content-type-options', 'nosniff'],
    ['referrer-policy', 'no-referrer'],
  ],
})
