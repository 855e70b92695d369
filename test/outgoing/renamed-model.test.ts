import { describe, expect, it } from 'vitest'
import { renamedModel } from '#outgoing/renamed-model.ts'

const renamed = async (text: string, model = 'new'): Promise<string | null> => {
  const bytes = await renamedModel(Buffer.from(text), model)
  return bytes === null ? null : Buffer.from(bytes).toString()
}

describe('a request body with a replaced model name', () => {
  it.each([
    ['{"model":"old","messages":[]}', '{"model":"new","messages":[]}'],
    ['{ "messages" : [] ,\n "model"\t:\r\n "old" }', '{ "messages" : [] ,\n "model"\t:\r\n "new" }'],
    ['{"a":"model","model":"o\\"l\\\\d","b":"model"}', '{"a":"model","model":"new","b":"model"}'],
    ['{"a":["model",{"model":"old"}],"model":"old"}', '{"a":["model",{"model":"old"}],"model":"new"}'],
    ['{"a":"\\"model\\":\\"x\\"","model":"old"}', '{"a":"\\"model\\":\\"x\\"","model":"new"}'],
    [`{"a":"${'x\\"'.repeat(100_000)}","model":"old"}`, `{"a":"${'x\\"'.repeat(100_000)}","model":"new"}`],
    ['{"é":"東京","model":"old","n":1.50}', '{"é":"東京","model":"new","n":1.50}'],
  ])('keeps all other bytes of %s', async (before, after) => {
    expect(await renamed(before)).toBe(after)
  })

  it('encodes the name as JSON', async () => {
    expect(await renamed('{"model":"old"}', 'a"b\\é')).toBe('{"model":"a\\"b\\\\é"}')
  })

  it('can be part of a larger buffer', async () => {
    const bytes = Buffer.from('xx{"model":"old"}yy').subarray(2, -2)
    expect(Buffer.from((await renamedModel(bytes, 'new')) ?? []).toString()).toBe('{"model":"new"}')
  })

  it.each([
    ['the name stands twice', '{"model":"a","model":"b"}'],
    ['a name is written with an escape', '{"model":"a","mod\\u0065l":"b"}'],
    ['the model is not a string', '{"model":null}'],
    ['there is no model at the top level', '{"a":{"model":"old"}}'],
  ])('is not produced where %s', async (_, text) => {
    expect(await renamed(text)).toBeNull()
  })
})
