import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { nextSlice } from '#src/concurrency/run-in-slices.ts'
import { contentTypes, type StaticFile, StaticFiles, staticFile } from '../static-files.ts'
import type { DocsParts } from './docs-site.ts'
import { type Rendered, render } from './markup.ts'
import { groupsOf, referencePage } from './reference.ts'
import { type Place, shell } from './shell.ts'

/** The page for readers of the repository. */
const forContributors = 'README.md'

/** Renders everything, a page in each turn of the loop. */
export const docsPages = async ({ folder, operations }: DocsParts): Promise<StaticFiles> => {
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
  return `<h1>Documentation</h1><h2>Guides</h2><ul class="columns-[220px]">${partOf('Guides')}</ul><h2>Reference</h2><p>Every operation of the API, as <a href="/openapi.json">/openapi.json</a> declares it to generators.</p><ul class="columns-[220px]">${partOf('Reference')}</ul>`
}
