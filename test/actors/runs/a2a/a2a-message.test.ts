import { expect, it } from 'vitest'
import { a2aMessage } from '#actors/runs/a2a/a2a-message.ts'
import type { Json } from '#storage/ports.ts'

const read = (part: Json) =>
  a2aMessage({ role: 'ROLE_USER', messageId: 'm1', parts: [{ text: 'This?' }, part] }, 'message')

it('reads texts and JSON values', () => {
  expect(read({ text: 'Yes' })).toMatchObject({ text: 'This?\n\nYes', data: [] })
  expect(read({ data: { a: 1 } })).toMatchObject({ text: 'This?', data: [{ a: 1 }] })
})

it.each([
  { raw: 'iVBO', mediaType: 'image/png' },
  { url: 'https://example.com/a.png' },
  { kind: 'file', file: { bytes: 'iVBO', mimeType: 'image/png' } },
  { text: 'This', raw: 'iVBO' },
  { data: { a: 1 }, url: 'https://example.com/a.png' },
])('refuses a file with its place, also beside a text: %j', (part) => {
  const details = { param: 'message.parts[1]', extra: { reason: 'CONTENT_TYPE_NOT_SUPPORTED' } }
  expect(() => read(part)).toThrow(
    expect.objectContaining({ code: 'invalid_field', details: expect.objectContaining(details) }),
  )
})
