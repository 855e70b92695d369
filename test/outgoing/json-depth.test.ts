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

it('JsonDepth refuses more names, strings, objects and arrays than its limit in one document', () => {
  const counted = (isStream: boolean) => new JsonDepth(9, { maxValues: 4, isStream })
  expect(counted(false).push(bytes('{"a":[1,2,3,4,5],"b":6}'))).toBe(true)
  expect(counted(false).push(bytes('{"a":[{}],"b":6}'))).toBe(false)
  // only in a stream does an empty line begin another document
  expect(counted(true).push(bytes('data: [[],[]]\r\n\r\ndata: [[],[]]\n\n'))).toBe(true)
  expect(counted(false).push(bytes('[[],[],\n\n[],[]]'))).toBe(false)
})
