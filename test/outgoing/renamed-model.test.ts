import { describe, expect, it } from 'vitest'
import { renamedModel } from '#outgoing/renamed-model.ts'

const renamed = (text: string, model = 'new'): string | null => {
  const bytes = renamedModel(Buffer.from(text), model)
  return bytes === null ? null : Buffer.from(bytes).toString()
}

describe('the bytes of a request under another model', () => {
  it.each([
    ['{"model":"old","messages":[]}', '{"model":"new","messages":[]}'],
    ['{ "messages" : [] ,\n "model"\t:\r\n "old" }', '{ "messages" : [] ,\n "model"\t:\r\n "new" }'],
    ['{"a":"model","model":"o\\"l\\\\d","b":"model"}', '{"a":"model","model":"new","b":"model"}'],
    ['{"a":["model",{"model":"old"}],"model":"old"}', '{"a":["model",{"model":"old"}],"model":"new"}'],
    ['{"a":"\\"model\\":\\"x\\"","model":"old"}', '{"a":"\\"model\\":\\"x\\"","model":"new"}'],
    ['{"é":"東京","model":"old","n":1.50}', '{"é":"東京","model":"new","n":1.50}'],
  ])('keep everything else of %s', (before, after) => {
    expect(renamed(before)).toBe(after)
  })

  it('write a name as JSON does', () => {
    expect(renamed('{"model":"old"}', 'a"b\\é')).toBe('{"model":"a\\"b\\\\é"}')
  })

  it('are read within a larger buffer', () => {
    const bytes = Buffer.from('xx{"model":"old"}yy').subarray(2, -2)
    expect(Buffer.from(renamedModel(bytes, 'new') ?? []).toString()).toBe('{"model":"new"}')
  })

  it.each([
    ['the name stands twice', '{"model":"a","model":"b"}'],
    ['a name is written with an escape', '{"model":"a","mod\\u0065l":"b"}'],
    ['the model is no text', '{"model":null}'],
    ['there is none', '{"a":{"model":"old"}}'],
  ])('are not made where %s', (_, text) => {
    expect(renamed(text)).toBeNull()
  })
})
