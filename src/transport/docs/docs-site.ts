import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import type { Operation } from '#specs/dsl/declare.ts'
import { nextSlice } from '#src/concurrency/run-in-slices.ts'
import type { HttpRequest, HttpResponse } from '../http/http-port.ts'
import { contentTypes, type StaticFile, StaticFiles, staticFile } from '../static-files.ts'
import { type Rendered, render } from './markup.ts'
import { groupsOf, referencePage } from './reference.ts'
import { type Place, shell } from './shell.ts'

/** Options of the documentation. */
export interface DocsParts {
  /** Has the pages (`*.md`) and pictures. */
  readonly folder: string
  readonly operations: readonly Operation[]
}

/** The page for readers of the repository. */
const forContributors = 'README.md'

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
    this.#files ??= build(this.#parts).catch((error) => {
      this.#files = null
      throw error
    })
    const files = await this.#files
    if (files.answer(request, response)) return
    const text = 'There is no such page. The documentation begins at /docs.'
    response.send(404, [['content-type', contentTypes['.txt'] ?? '']], text)
  }
}

/** Renders everything, a page in each turn of the loop. */
const build = async ({ folder, operations }: DocsParts): Promise<StaticFiles> => {
  const names = (await readdir(folder)).sort()
  const pages = names.filter((name) => name.endsWith('.md') && name !== forContributors)
  const pictures = names.filter((name) => ['.png', '.svg'].includes(extname(name)))
  const targetOf = (href: string): string | null => {
    const [name = '', anchor] = href.replace(/^\.\//, '').split('#', 2)
    if (pictures.includes(name)) return `/docs/${name}`
    if (!pages.includes(name)) return null
    return `/docs/${name.slice(0, -3)}${anchor === undefined ? '' : `#${anchor}`}`
  }
  const rendered: (Place & Rendered)[] = []
  for (const name of pages) {
    const path = `/docs/${name.slice(0, -3)}`
    rendered.push({ path, part: 'Guides', ...render(await readFile(join(folder, name), 'utf8'), targetOf) })
    await nextSlice()
  }
  for (const group of groupsOf(operations)) {
    rendered.push({ path: `/docs/reference/${group.name}`, part: 'Reference', ...referencePage(group) })
    await nextSlice()
  }
  const files = new Map<string, StaticFile>(
    await Promise.all(
      pictures.map(
        async (name) =>
          [`/docs/${name}`, staticFile(await readFile(join(folder, name)), contentTypes[extname(name)] ?? '')] as const,
      ),
    ),
  )
  const html = contentTypes['.html'] ?? ''
  for (const page of rendered) {
    files.set(page.path, staticFile(Buffer.from(shell(page, rendered)), html))
    await nextSlice()
  }
  const front = { path: '/docs', part: 'Guides', title: 'Documentation', html: frontOf(rendered), sections: [] }
  files.set('/docs', staticFile(Buffer.from(shell(front, rendered)), html))
  files.set('/docs/', staticFile(Buffer.from(shell(front, rendered)), html))
  const index = rendered.flatMap(({ path, title, part, sections }) =>
    sections.map((each) => [
      each.title,
      `${part}: ${title}`,
      each.anchor === '' ? path : `${path}#${each.anchor}`,
      each.text,
    ]),
  )
  files.set('/docs/search.json', staticFile(Buffer.from(JSON.stringify(index)), contentTypes['.json'] ?? ''))
  return new StaticFiles(files)
}

const frontOf = (rendered: readonly (Place & Rendered)[]): string => {
  const partOf = (part: string) =>
    rendered
      .filter((page) => page.part === part)
      .map(({ path, title }) => `<li><a href="${path}">${title}</a></li>`)
      .join('')
  return `<h1>Documentation</h1><h2>Guides</h2><ul class="columns">${partOf('Guides')}</ul><h2>Reference</h2><p>Every operation of the API, as <a href="/openapi.json">/openapi.json</a> declares it to generators.</p><ul class="columns">${partOf('Reference')}</ul>`
}
