import { readdir, readFile } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { entityTag, namesTag } from './entity-tag.ts'
import type { Headers, HttpRequest, HttpResponse } from './http/http-port.ts'

/** Files of another kind are not served. */
const contentTypes: Readonly<Record<string, string>> = {
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

interface StaticFile {
  readonly content: Buffer
  readonly etag: string
  readonly headers: Headers
  /** The same compressed, the smallest first. */
  readonly compressed: readonly Compressed[]
}

interface Compressed {
  readonly encoding: 'br' | 'gzip'
  readonly content: Buffer
}

const compressors = { br: promisify(brotliCompress), gzip: promisify(gzip) } as const

/** Shorter files gain nothing. */
const leastCompressed = 256

/**
 * The files of one folder, read once. A path is looked up among the names that were found, so that no request can
 * name anything else: there is no path to traverse.
 */
export class StaticFiles {
  readonly #files: ReadonlyMap<string, StaticFile>

  constructor(files: ReadonlyMap<string, StaticFile>) {
    this.#files = files
  }

  /** Answers a GET or HEAD of one of the files, `/` being `/index.html`; false when it is none. */
  answer(request: HttpRequest, response: HttpResponse): boolean {
    if (request.method !== 'GET' && request.method !== 'HEAD') return false
    const file = this.#files.get(request.path === '/' ? '/index.html' : request.path)
    if (file === undefined) return false
    const accepted = request.header('accept-encoding') ?? ''
    const compressed = file.compressed.find(({ encoding }) => accepts(accepted, encoding))
    const etag = compressed === undefined ? file.etag : tagOf(file.etag, compressed.encoding)
    const fresh = namesTag(request.header('if-none-match'), etag)
    const encoding: Headers = compressed === undefined ? [] : [['content-encoding', compressed.encoding]]
    const headers: Headers = [...file.headers, ['etag', etag], ...(fresh ? [] : encoding)]
    response.send(fresh ? 304 : 200, headers, fresh ? '' : (compressed ?? file).content)
    return true
  }
}

/**
 * Reads every file under `folder`, and single files by the path that they are served under, which pages of every origin
 * may read. @throws when one of them cannot be read.
 */
export const readStaticFiles = async (
  folder: string,
  open: Readonly<Record<string, string>> = {},
): Promise<StaticFiles> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = new Map<string, StaticFile>()
  for (const entry of entries) {
    const type = contentTypes[extname(entry.name)]
    if (!entry.isFile() || type === undefined) continue
    const path = join(entry.parentPath, entry.name)
    files.set(`/${relative(folder, path).split(sep).join('/')}`, await staticFile(await readFile(path), type))
  }
  for (const [path, file] of Object.entries(open)) {
    const served = await staticFile(await readFile(file), contentTypes[extname(file)] ?? '')
    files.set(path, { ...served, headers: [...served.headers, ['access-control-allow-origin', '*']] })
  }
  return new StaticFiles(files)
}

/** Whether `Accept-Encoding` names the encoding, and not with a weight of nought: RFC 9110, section 12.5.3. */
const accepts = (header: string, encoding: string): boolean =>
  header.split(',').some((part) => {
    const [name = '', ...params] = part.split(';').map((each) => each.trim().toLowerCase())
    return name === encoding && !params.some((param) => /^q=0(\.0*)?$/.test(param))
  })

/** A strong tag names bytes, which differ by encoding. */
const tagOf = (etag: string, encoding: string): string => `${etag.slice(0, -1)}-${encoding}"`

const compressedOf = async (content: Buffer, type: string): Promise<readonly Compressed[]> => {
  if (content.length < leastCompressed || /^(image\/(png|x-icon)|font)/.test(type)) return []
  const [br, zipped] = await Promise.all([compressors.br(content), compressors.gzip(content)])
  return [
    { encoding: 'br', content: br },
    { encoding: 'gzip', content: zipped },
  ]
}

const staticFile = async (content: Buffer, type: string): Promise<StaticFile> => {
  return {
    content,
    etag: entityTag(content),
    compressed: await compressedOf(content, type),
    headers: [
      ['content-type', type],
      ['vary', 'accept-encoding'],
      ['cache-control', 'no-cache'],
      ['content-security-policy', "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"],
      ['x-content-type-options', 'nosniff'],
      ['referrer-policy', 'no-referrer'],
    ],
  }
}
