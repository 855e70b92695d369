import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pageTypeOf } from '#src/pages/content-type.ts'
import { PageParsers } from '#src/parsing/pages/page-parsers.ts'
import { drawnOf } from '#test/setup/at-night.ts'
import { cpuMs } from '#test/support/cpu-ms.ts'

const count = 15_000
/** Far above the usual .3 s; a reader whose time grows with the square of the links takes longer. */
const maxCpuMs = 2_500

const links = (form: (link: string, n: number) => string): string =>
  Array.from({ length: count }, (_, n) => form(`<a href="/p${n}">Page ${n}</a>`, n)).join('\n')

const pages: Readonly<Record<string, string>> = {
  'in one line': `<div>${links((link) => link)}</div>`,
  'in a list': `<ul>${links((link) => `<li>${link}</li>`)}</ul>`,
  'in a numbered list': `<ol>${links((link) => `<li>${link} and some words after it</li>`)}</ol>`,
  'in blocks': links((link) => `<div>${link}</div>`),
  'in lines of one block': `<div>${links((link) => `${link}<br>`)}</div>`,
  'in a table': `<table>${links((link) => `<tr><td>${link}</td></tr>`)}</table>`,
  'in bold': `<p>${links((link) => `<b>${link}</b>`)}</p>`,
}

const cases = Object.keys(pages).flatMap((name) => [[name, 'text'] as const, [name, 'markdown'] as const])

describe('a page of 15,000 links', () => {
  const parsers = new PageParsers()
  const read = (html: string, format: 'text' | 'markdown') => {
    const bytes = Buffer.from(`<html><title>Index</title><body>${html}</body></html>`)
    const type = pageTypeOf('text/html', bytes)
    if (type === null) throw new Error('no page')
    return parsers.read(
      { bytes, type, url: 'https://site.example/', format },
      { deadlineMs: 60_000, owner: { project: 'prj_1', tenant: null } },
    )
  }
  beforeAll(() => read('<p>warm', 'text'))
  afterAll(() => parsers.close())

  it.each(drawnOf(cases, 3))('%s is read as %s', async (name, format) => {
    const began = cpuMs()
    const { content, links: found, title } = await read(pages[name] ?? '', format)
    expect(title).toBe('Index')
    expect(found).toHaveLength(1_000)
    expect(content).toContain('Page 4999')
    expect(cpuMs() - began).toBeLessThan(maxCpuMs)
  })
})
