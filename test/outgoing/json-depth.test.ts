import { expect, it } from 'vitest'
import { JsonDepth } from '#outgoing/json-depth.ts'

const bytes = (text: string) => Buffer.from(text)

it('JsonDepth accepts nesting up to its limit across parts, and refuses deeper nesting', () => {
  const depth = new JsonDepth(3)
  expect(depth.push(bytes('{"a":[{"b'))).toBe(true)
  expect(depth.push(bytes('":"[[[[{{{{ \\" [[["}]}'))).toBe(true)
  expect(depth.push(bytes('[[['))).toBe(true)
  expect(depth.push(bytes('['))).toBe(false)
})

it('JsonDepth continues after a line of an event stream with an unclosed string', () => {
  const depth = new JsonDepth(2)
  expect(depth.push(bytes(': it"s alive\n\ndata: [[1]]\n\n'))).toBe(true)
  expect(depth.push(bytes('data: [[[1]]]\n\n'))).toBe(false)
})
