import { expect, it } from 'vitest'
import { charsetOf, typeOfContent, typeOfPage } from '#actors/knowledge/sources/content-type.ts'

it.each([
  ['text/html; charset=utf-8', '/blob/main/README.md', 'text/html'],
  ['application/pdf', '/download.html', 'application/pdf'],
  ['text/plain', '/raw/README.md', 'text/markdown'],
  ['application/octet-stream', '/a.docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['', '/a.csv', 'text/csv'],
  ['text/x-unknown', '/a', 'text/plain'],
  ['image/png', '/a', 'image/png'],
  ['image/svg+xml', '/a', null],
])('the page with the type "%s" at %s is parsed as %s', (said, path, type) => {
  expect(typeOfPage(said, path)).toBe(type)
})

it('the extension of a file takes precedence over its declared type', () => {
  expect(typeOfContent('text/plain', 'a.pdf')).toBe('application/pdf')
})

it('the character encoding is that of the content type', () => {
  expect([charsetOf('text/html; charset="ISO-8859-1"'), charsetOf('text/html')]).toEqual(['ISO-8859-1', null])
})
