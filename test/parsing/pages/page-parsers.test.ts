import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pageTypeOf } from '#src/pages/content-type.ts'
import { PageParsers } from '#src/parsing/pages/page-parsers.ts'
import { ParserFailed } from '#src/parsing/parser-pool.ts'
import { drawnOf } from '#test/setup/at-night.ts'
import { cpuMs } from '#test/support/cpu-ms.ts'

const parsers = new PageParsers()
const one = { project: 'prj_1', tenant: null }
const read = (html: string, deadlineMs: number, by = parsers, owner = one) => {
  const bytes = Buffer.from(html)
  const type = pageTypeOf('text/html', bytes)
  if (type === null) throw new Error('no page')
  return by.read({ bytes, type, url: 'https://site.example/', format: 'text' }, { deadlineMs, owner })
}
const plain = '<p>Just a line.</p>'

const hostile: Readonly<Record<string, string>> = {
  '100,000 nested divs': '<div>'.repeat(100_000),
  '50,000 attributes': `<p ${Array.from({ length: 50_000 }, (_, n) => `a${n}="${n}"`).join(' ')}>words`,
  '3 MB of blanks': `<p>a${' '.repeat(3_000_000)}b</p>`,
  '3 MB of blanks as they are': `<pre>a${' '.repeat(3_000_000)}b</pre>`,
  '100,000 paragraphs that never end': '<p>'.repeat(100_000),
  '100,000 lists in one another': '<ul><li>'.repeat(100_000),
  'a million tags that never begin': '<'.repeat(1_000_000),
  '300,000 comments that never end': '<!--'.repeat(300_000),
  '200,000 attributes that never end': '<a b="'.repeat(200_000),
  'a million references': '&amp;'.repeat(400_000),
  '50,000 closing tags of nothing': '<b>'.repeat(50_000) + '</i>'.repeat(50_000),
  '30,000 breaks': `<p>${'hello<br><br>'.repeat(30_000)}`,
  '20,000 tables in one another': '<table><tr><td>'.repeat(20_000),
}

describe('a hostile page', { timeout: 240_000 }, () => {
  beforeAll(async () => {
    await Promise.all([read(plain, 60_000), read(plain, 60_000), read(plain, 60_000)])
  })
  afterAll(() => parsers.close())

  it.each(drawnOf(Object.keys(hostile), 3))('of %s takes at most its deadline and a second of CPU', async (name) => {
    const deadlineMs = 500
    const from = cpuMs()
    await read(hostile[name] ?? '', deadlineMs).catch((error: unknown) => {
      if (!(error instanceof ParserFailed)) throw error
    })
    expect(cpuMs() - from).toBeLessThan(deadlineMs + 1_000)
  })

  it('does not delay another page, and in any number not the page of another project', async () => {
    let ended = 0
    // its threads take seconds of CPU to start
    const crowded = new PageParsers()
    const reading = (names: readonly string[]) =>
      names.map((name) =>
        read(hostile[name] ?? '', 60_000, crowded)
          .catch(() => undefined)
          .finally(() => ended++),
      )
    const few = reading(['30,000 breaks', '100,000 paragraphs that never end'])
    expect((await read(plain, 60_000, crowded)).content).toBe('Just a line.')
    // if the plain page had waited for a hostile one, that one would have ended
    expect(ended).toBe(0)
    const many = reading(Array.from({ length: 12 }, () => '30,000 breaks'))
    const other = { project: 'prj_2', tenant: null }
    expect((await read(plain, 60_000, crowded, other)).content).toBe('Just a line.')
    expect(ended).toBe(0)
    await crowded.close()
    await Promise.all([...few, ...many])
  })

  it('ends at its deadline, and the next page is read', async () => {
    const late = read(hostile['30,000 breaks'] ?? '', 20)
    await expect(late).rejects.toMatchObject({ reason: 'deadline' })
    expect((await read(plain, 60_000)).content).toBe('Just a line.')
  })
})
