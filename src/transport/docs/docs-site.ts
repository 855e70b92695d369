import type { Operation } from '#specs/dsl/declare.ts'
import type { HttpRequest, HttpResponse } from '../http/http-port.ts'
import { contentTypes, type StaticFiles } from '../static-files.ts'

/** Options of the documentation. */
export interface DocsParts {
  /** Has the pages (`*.md`) and pictures. */
  readonly folder: string
  readonly operations: readonly Operation[]
}

/** What renders the pages is loaded with the first request. */
const made = async (parts: DocsParts): Promise<StaticFiles> => (await import('./docs-pages.ts')).docsPages(parts)

/**
 * The documentation at `/docs`: the pages of docs/ and a reference of all operations, made at the first request from what
 * the server has, with an index for the search in the browser.
 */
export class DocsSite {
  readonly #parts: DocsParts
  #files: Promise<StaticFiles> | null = null

  constructor(parts: DocsParts) {
    this.#parts = parts
  }

  /** @returns whether the path belongs to the documentation. */
  takes({ path }: Pick<HttpRequest, 'path'>): boolean {
    return path === '/docs' || path.startsWith('/docs/')
  }

  /** Answers a request whose path `takes` accepts. @throws when the pages cannot be read, which is tried again later. */
  async answer(request: HttpRequest, response: HttpResponse): Promise<void> {
    this.#files ??= made(this.#parts).catch((error) => {
      this.#files = null
      throw error
    })
    const files = await this.#files
    if (files.answer(request, response)) return
    const text = 'There is no such page. The documentation begins at /docs.'
    response.send(404, [['content-type', contentTypes['.txt'] ?? '']], text)
  }
}
