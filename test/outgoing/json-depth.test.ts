import { expect, it } from 'vitest'
import { JsonDepth } from '#outgoing/json-depth.ts'

const bytes = (text: string) => Buffer.from(text)

it('takes what nests as deeply as it may, in however many parts', () => {
  const depth = new JsonDepth(3)
  expect(depth.push(bytes('{"a":[{"b'))).toBe(true)
  expect(depth.push(bytes('":"[[[[{{{{ \\" [[["}]}'))).toBe(true)
  expect(depth.push(bytes('[[['))).toBe(true)
  expect(depth.push(bytes('['))).toBe(false)
})

it('reads on behind a line of an event stream that no string ends', () => {
  const depth = new JsonDepth(2)
  expect(depth.push(bytes(': it"s alive\n\ndata: [[1]]\n\n'))).toBe(true)
  expect(depth.push(bytes('data: [[[1]]]\n\n'))).toBe(false)
})
