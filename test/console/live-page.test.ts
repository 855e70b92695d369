import { parseHTML } from 'linkedom'
import { afterEach, expect, it, vi } from 'vitest'

afterEach(() => vi.unstubAllGlobals())

/** A file of the console, whose types are those of a browser, which these tests are not compiled for. */
const file = (name: string) => import(new URL(`../../console/${name}`, import.meta.url).href)

it('a page that was left reports nothing of what it still read', async () => {
  vi.stubGlobal('document', parseHTML('<main></main>').document)
  const [{ html }, { livePage }] = await Promise.all(['html.ts', 'live-page.ts'].map(file))
  let reads = 0
  const read = async () => {
    reads++
    if (reads > 1) throw new Error(`read ${reads}`)
    return 'first'
  }
  const reported: unknown[] = []
  const ends: (() => Promise<void>)[] = []
  const page = livePage({
    read,
    show: ({ data, done }: { data: string; done: () => Promise<void> }) => {
      ends.push(done)
      return html`<p>${data}</p>`
    },
    everyMs: 0,
  })({ project: 'prj_1', view: 'audit', query: {} }, (error: unknown) => reported.push(error))
  await page.start()
  await ends[0]?.()
  expect(reported).toEqual([new Error('read 2')])
  const late = ends[0]?.()
  page.stop()
  await late
  expect(reported).toEqual([new Error('read 2')])
})

it('a filter keeps what is being typed when its page is read again', async () => {
  const { document } = parseHTML('<main></main>')
  vi.stubGlobal('document', document)
  const [{ html, render }, { QueryForm }] = await Promise.all(['html.ts', 'parts/query-form.ts'].map(file))
  const root = document.querySelector('main')
  const place = { view: 'audit', project: 'prj_1', query: {} }
  const fields = [{ name: 'tenant', label: 'Tenant' }]
  const show = () => render(html`<${QueryForm} place=${place} label="Filters" button="Apply" fields=${fields} />`, root)
  show()
  root?.querySelector('input')?.setAttribute('value', 'ten_')
  show()
  expect(root?.querySelector('input')?.getAttribute('value')).toBe('ten_')
})
