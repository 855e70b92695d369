import { describe, expect, it } from 'vitest'
import { LineChecker, namesIn } from '#gateway/batches/batch-lines.ts'
import { maxBatchLines } from '#specs/resources/gateway/batches.ts'

const endpoint = '/v1/chat/completions'
const withBody = (body: string, id = 'a'): string =>
  `{"custom_id":"${id}","method":"POST","url":"${endpoint}","body":${body}}`
const good = withBody('{"model":"m"}')

async function* content(text: string | Buffer): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}
const checked = (text: string | Buffer) => new LineChecker(endpoint, async () => {}).check(content(text))

describe('A line of a batch', () => {
  it.each([
    [
      'is nested as deeply as no body may be',
      withBody(`{"x":${'['.repeat(100)}${']'.repeat(100)}}`),
      'invalid_json_line',
    ],
    [
      'is nested 500,000 levels deep',
      withBody(`{"x":${'['.repeat(500_000)}${']'.repeat(500_000)}}`),
      'invalid_json_line',
    ],
    ['has a name twice', withBody('{"model":"m","model":"n"}'), 'invalid_json_line'],
    ['has 340,000 empty objects', withBody(`{"x":[${'{},'.repeat(340_000)}1]}`), 'too_many_values'],
    [
      'has 80,000 names',
      withBody(`{"x":{${Array.from({ length: 80_000 }, (_, at) => `"k${at}":1`).join()}}}`),
      'too_many_values',
    ],
  ])('that %s makes its file invalid, within the bounds of a body', async (_, line, code) => {
    expect((await checked(`${good}\n${line}`)).errors).toMatchObject([{ code, line: 2 }])
  })

  it('may follow a byte order mark, and end with CRLF or the file', async () => {
    const text = `\ufeff${good}\r\n \r\n${withBody('{}', 'b')}`
    expect(await checked(text)).toMatchObject({ total: 2, errors: [] })
  })

  it('cannot come after more blank lines than any batch has, which would take seconds to skip', async () => {
    const { errors } = await checked(`${'\n'.repeat(2 * maxBatchLines + 1)}${good}`)
    expect(errors).toMatchObject([{ code: 'too_many_lines', line: null }])
  })

  it('is named in a file that was not checked, unless it is no request', async () => {
    const names = []
    for await (const each of namesIn(content(`nonsense\n\n[1]\n{"custom_id":1}\n${good}`))) names.push(each)
    expect(names).toEqual([{ custom_id: 'a' }])
  })
})
