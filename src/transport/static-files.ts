import type { Dirent } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
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
  '.ts': 'text/javascript; charset=utf-8',
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

/** What is served besides a folder's files, and how. */
export interface StaticOptions {
  /** Files that pages of every origin may read, by the paths they are served under. */
  readonly open?: Readonly<Record<string, string>>
  /** Removes the types from a TypeScript file. */
  readonly strip?: (source: string) => string
}

/**
 * Reads every file under `folder`. TypeScript is served as the JavaScript that it is without its types: of `x.ts`, or of
 * `x.ts.js`, from which they were removed when the package was made.
 *
 * @throws when a file cannot be read, or has syntax that is more than types.
 */
export const readStaticFiles = async (
  folder: string,
  { open = {}, strip = stripTypeScriptTypes }: StaticOptions = {},
): Promise<StaticFiles> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = new Map<string, StaticFile>()
  const readEntry = async (entry: Dirent): Promise<void> => {
    const type = contentTypes[extname(entry.name)]
    if (!entry.isFile() || type === undefined || entry.name.endsWith('.d.ts')) return
    const path = join(entry.parentPath, entry.name)
    const content = await readFile(path)
    const served = isShortened(entry.name) ? Buffer.from(servedText(path, content.toString(), strip)) : content
    const name = relative(folder, path)
      .split(sep)
      .join('/')
      .replace(/\.ts\.js$/, '.ts')
    files.set(`/${name}`, staticFile(served, type))
  }
  await Promise.all(entries.map(readEntry))
  for (const [path, file] of Object.entries(open)) {
    const served = staticFile(await readFile(file), contentTypes[extname(file)] ?? '')
    files.set(path, { ...served, headers: [...served.headers, ['access-control-allow-origin', '*']] })
  }
  return new StaticFiles(files)
}

const isShortened = (name: string): boolean => /\.(css|js|ts)$/.test(name)

/** The text of a file as it is served: without what only its readers need. */
export const servedText = (path: string, text: string, strip: (source: string) => string): string => {
  if (path.endsWith('.css')) return withoutSpaces(text)
  return withoutComments(path.endsWith('.ts') ? stripped(path, text, strip) : text)
}

const stripped = (path: string, text: string, strip: (source: string) => string): string => {
  try {
    return strip(text)
  } catch (error) {
    throw new Error(`${path} has syntax that is more than types`, { cause: error })
  }
}

/** A style sheet without its comments and the space around braces, semicolons and commas. */
const withoutSpaces = (css: string): string =>
  css
    .replaceAll(/\/\*(?:[^*]|\*(?!\/))*\*\/\n?/g, '')
    .replaceAll(/([{};,])[ \n]+/g, '$1')
    .replaceAll(' {', '{')

/**
 * A module without its comments on lines of their own, which only readers need, and the space that types have left: a
 * fifth of what a page would load.
 */
const withoutComments = (text: string): string =>
  unindented(text.replaceAll(/^ *\/\*\*(?:[^*]|\*(?!\/))*\*\/\n/gm, '').replaceAll(/^ *\/\/.*\n/gm, ''))

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
