import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isJsonType, maxValuesOfShort, parseJson } from '#outgoing/shares/json-body.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { maxBatchLines } from '#specs/resources/gateway/batches.ts'
import { messageBatches } from '#specs/resources/gateway/message-batches.ts'
import { principals, serve } from '#test/transport/api/serving.ts'

const parse = async (text: string, max?: number): Promise<unknown> => parseJson(Buffer.from(text), max)
const nested = (depth: number) => `${'[{"a":'.repeat(depth / 2)}1${'}]'.repeat(depth / 2)}`

describe('a JSON body', () => {
  it('is parsed for any JSON value', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 5 }), async (value) => {
        const text = JSON.stringify(value)
        expect(JSON.stringify(await parse(text))).toBe(text)
      }),
    )
  })

  it('may be nested 64 levels deep and no deeper', async () => {
    expect(await parse(nested(64))).toBeInstanceOf(Array)
    await expect(parse(nested(66))).rejects.toThrow('nested deeper than 64')
  })

  it('may contain any number of brackets in its strings', async () => {
    const text = `\\"${'[{'.repeat(100)}`
    expect(await parse(JSON.stringify({ text }))).toEqual({ text })
  })

  it('of more than 64 KB is parsed in shares of the event loop, whatever it contains', async () => {
    const long = 'x'.repeat(70_000)
    for (const text of [JSON.stringify({ long }), `"${long}`, `[${'1,'.repeat(40_000)}1]`, '['.repeat(70_000)]) {
      const reading = parseJson(Buffer.from(text))
      expect(reading).toBeInstanceOf(Promise)
      await Promise.allSettled([reading])
    }
    expect(parseJson(Buffer.from('{"a":1}'))).toEqual({ a: 1 })
  })

  it.each([
    ['{"model":"a","model":"b"}', 'model'],
    ['{"messages":[{"role":"user","content":"a","content":"b"}]}', 'messages[0].content'],
    [`{"model":"a","messages":[{"content":"${'x'.repeat(100_000)}"}],"model":"b"}`, 'model'],
  ])('is refused if it contains a name twice in one object (%#)', async (text, param) => {
    const message = `The body contains ${param} twice.`
    await expect(parse(text)).rejects.toMatchObject({ code: 'malformed_json', details: { param, message } })
  })

  it('contains at most 100,000 names, strings, objects and lists, and eight times as many numbers', async () => {
    const items = (count: number, item: string) => `[${Array.from({ length: count }, () => item).join(',')}]`
    expect(await parse(items(80_000, '{}'))).toHaveLength(80_000)
    expect(await parse(items(780_000, '1'))).toHaveLength(780_000)
    for (const body of [items(100_000, '{}'), items(100_000, '""'), items(810_000, '1')])
      await expect(parse(body)).rejects.toThrow('The body has more than 100000 names')
    expect(await parse(items(15_000, '{}'), maxValuesOfShort)).toHaveLength(15_000)
    await expect(parse(items(20_000, '{}'), maxValuesOfShort)).rejects.toThrow('The body has more than 20000 names')
  })

  it('may have more of them where an operation says so, as one of a message batch does', async () => {
    const operation = messageBatches['message_batches.create']
    const { send } = serve([operation], {
      'message_batches.create': async ({ body }) => {
        throw new ServiceError('bad_request', { message: `${Object(body).requests.length} requests` })
      },
    })
    const params = { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'x' }] }
    const requests = Array.from({ length: 7_000 }, (_, at) => ({ custom_id: `r${at}`, params }))
    const sent = { method: 'POST', target: '/v1/messages/batches', as: principals.secret_key, body: { requests } }
    expect((await send(sent)).text).toContain('7000 requests')
    // fifteen values a request
    expect(15 * maxBatchLines).toBeLessThan(operation.maxBodyValues ?? 0)
  })

  it('must be UTF-8', () => {
    expect(() => parseJson(Buffer.from([0x22, 0xff, 0x22]))).toThrow('not UTF-8')
  })
})

describe('a content type', () => {
  it.each([undefined, 'application/json', 'Application/JSON; charset=utf-8', 'application/merge-patch+json'])(
    '%s is JSON',
    (type) => {
      expect(isJsonType(type)).toBe(true)
    },
  )

  it.each(['', 'text/plain', 'application/jsonx', 'text/x+json', 'multipart/form-data; boundary=application/json'])(
    '%s is not JSON',
    (type) => {
      expect(isJsonType(type)).toBe(false)
    },
  )
})
