import { expect, it } from 'vitest'
import { fileContent } from '#actors/knowledge/sources/source-content.ts'

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
