import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { operations } from '#actors/capabilities.ts'
import { DocsSite } from '#transport/docs/docs-site.ts'
import { render } from '#transport/docs/markup.ts'
import { scoreOf, wordsOf } from '../../../console/docs/score.ts'
import { FakeResponse } from '../http/fakes.ts'

const site = new DocsSite({
  folder: fileURLToPath(new URL('../../../docs', import.meta.url)),
  operations: Object.values(operations),
})

const read = async (path: string) => {
  const response = new FakeResponse()
  const request = { method: 'GET', path, query: '', remoteAddress: '', header: () => undefined }
  await site.answer({ ...request, body: () => Promise.resolve(Buffer.alloc(0)) }, response)
  return response
}

describe('the documentation', () => {
  type Entry = readonly [title: string, place: string, path: string, text: string]
  let index: readonly Entry[] = []

  beforeAll(async () => {
    index = JSON.parse((await read('/docs/search.json')).text)
  })

  it('has every operation, in its reference and its search', () => {
    const ids = Object.values(operations).map(({ id }) => id)
    const paths = index.map(([, , path]) => path)
    expect(ids.filter((id) => !paths.includes(`/docs/reference/${id.slice(0, id.lastIndexOf('.'))}#${id}`))).toEqual([])
  })

  it('has no link that leads nowhere, on any page', async () => {
    const pages = new Map<string, string>()
    const pageOf = async (path: string) => {
      const known = pages.get(path) ?? (await read(path)).text
      pages.set(path, known)
      return known
    }
    const missing: string[] = []
    for (const path of new Set(['/docs', ...index.map(([, , target]) => target.split('#')[0] ?? '')])) {
      const html = await pageOf(path)
      for (const [, href = ''] of html.matchAll(/<a href="((?:\/docs|#)[^"]*)"/g)) {
        const [target = '', anchor] = href.split('#')
        const there = await pageOf(target === '' ? path : target)
        const isThere = there.startsWith('<!doctype') && (anchor === undefined || there.includes(`id="${anchor}"`))
        if (!isThere) missing.push(`${path}: ${href}`)
      }
    }
    expect([...new Set(missing)]).toEqual([])
  })

  it('renders what could be a script as text', () => {
    const source =
      '# <script>x</script>\n\n<img src=x onerror=y>\n\n[a](javascript:alert(1)) ![b](//evil.example/x)\n\n`<b>`'
    const { html } = render(source, () => null)
    expect(html).not.toMatch(/<script|<img|<b>|javascript:/)
  })

  it('finds what has every word, and prefers titles', () => {
    const [first] = [...index].sort((a, b) => scoreOf(b, ['create', 'session']) - scoreOf(a, ['create', 'session']))
    expect(first?.[2]).toBe('/docs/reference/sessions#sessions.create')
    expect(scoreOf(['A', 'b', '/c', 'd'], ['a', 'zzz'])).toBe(0)
    expect(wordsOf('(a+)+$ <Script> __proto__ '.repeat(10))).toHaveLength(8)
  })
})
