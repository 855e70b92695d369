import { describe, expect, it } from 'vitest'
import { pageTypeOf } from '#src/pages/content-type.ts'
import { readPage } from '#src/parsing/pages/read-page.ts'

const words = 'Words of a page that a person wrote. '.repeat(20)
const page = `<!doctype html><title>A</title><p>${words}`

describe('the type of a page with control characters', () => {
  it.each<readonly [string | null, string, string | null]>([
    ['text/html', `\0${page}`, 'html'],
    ['text/html', page.replaceAll('Words', 'Wo\0rds'), 'html'],
    ['text/html', page.replaceAll('Words', 'Words\u0001\u0002'), 'html'],
    ['application/json', '{"a":"\u0001 and many more words of a value that someone wrote"}', 'json'],
    ['text/plain', `${words}\0`, 'text'],
    ['text/plain', `${words}${'\0\u0001'.repeat(40)}`, null],
    ['text/html', '\0\u0001\u0002\u0003abc'.repeat(100), null],
    ['text/html', `\u0089PNG\r\n${page}`, null],
    [null, `\0${page}`, null],
    ['application/octet-stream', `${page}\0`, null],
  ])('declared as %s (%#)', (type, text, kind) => {
    expect(pageTypeOf(type, Buffer.from(text, 'latin1'))?.kind ?? null).toBe(kind)
  })

  it('is text without NUL characters once it is read', async () => {
    const bytes = Buffer.from(page.replaceAll('Words', 'Wo\0rds'))
    const type = pageTypeOf('text/html', bytes)
    if (type === null) throw new Error('no page')
    const { content } = await readPage({ bytes, type, url: 'https://site.example/', format: 'text' })
    expect(content).toContain('Words of a page')
  })
})
