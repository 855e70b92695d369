import { expect, it } from 'vitest'
import { contentOf, fileContent } from '#actors/knowledge/sources/source-content.ts'

it.each([
  ['handbook.md', 'handbook.md'],
  ['../../etc/handbook.md', 'handbook.md'],
  ['C:\\docs\\handbook.md', 'handbook.md'],
  ['hand\0book\n.md', 'handbook.md'],
  [`${'a'.repeat(300)}.md`, `${'a'.repeat(253)}.md`],
])('a file sent as %j is named without folders and control characters', (sent, filename) => {
  expect(fileContent({ field: 'file', filename: sent, contentType: '', bytes: Buffer.from('x') })).toMatchObject({
    filename,
  })
})

it('a second file of a form is refused as a file', () => {
  const file = { field: 'file', filename: 'a.md', contentType: '', bytes: Buffer.from('x') }
  expect(() => contentOf({}, [file, file])).toThrow(
    expect.objectContaining({ details: expect.objectContaining({ param: 'file' }) }),
  )
})
