import { readdir, readFile } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
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
}

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
    const fresh = namesTag(request.header('if-none-match'), file.etag)
    response.send(fresh ? 304 : 200, file.headers, fresh ? '' : file.content)
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
    files.set(`/${relative(folder, path).split(sep).join('/')}`, staticFile(await readFile(path), type))
  }
  for (const [path, file] of Object.entries(open)) {
    const { content, etag, headers } = staticFile(await readFile(file), contentTypes[extname(file)] ?? '')
    files.set(path, { content, etag, headers: [...headers, ['access-control-allow-origin', '*']] })
  }
  return new StaticFiles(files)
}

const staticFile = (content: Buffer, type: string): StaticFile => {
  const etag = entityTag(content)
  return {
    content,
    etag,
    headers: [
      ['content-type', type],
      ['etag', etag],
      ['cache-control', 'no-cache'],
      ['content-security-policy', "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"],
      ['x-content-type-options', 'nosniff'],
      ['referrer-policy', 'no-referrer'],
    ],
  }
}
