import { describe, expect, it } from 'vitest'
import { differenceOf, examplesOf, linesOf } from './page-examples.ts'

describe('an example of a page', () => {
  it('is a block of code followed by its output', () => {
    const page =
      'x\n```\nexport A=1\n```\n```sh\necho 1\n```\nwords\n```text\n1\n```\n```js\nf()\n```\n```json\n{}\n```\n'
    expect(examplesOf(page)).toEqual([
      { language: 'sh', code: 'echo 1\n', prints: { form: 'text', text: '1\n' } },
      { language: 'js', code: 'f()\n', prints: { form: 'json', text: '{}\n' } },
    ])
    expect(() => examplesOf('```sh\necho 1\n```\n```sh\necho 2\n```\n')).toThrow(/echo 1/)
  })

  it.each([
    [{ a: 1 }, { a: 1, b: 2 }, null],
    [{ a: 1 }, { a: 2 }, '$.a'],
    [{ a: { b: '…' } }, { a: { b: 0 } }, null],
    [{ a: { b: '…' } }, { a: {} }, '$.a.b'],
    [{ a: null }, { a: null }, null],
    [[1, 2], [1, 2, 3], '$.length'],
    [[1, '…'], [1, 2, 3], null],
    [[1, '…'], [2], '$.0'],
    [[], [1], '$.length'],
    [[{ a: 1 }], 'text', '$'],
  ])('with the output %j and the actual output %j differs at %s', (said, document, at) => {
    expect(differenceOf(said, document)).toBe(at)
  })

  it('matches text with its lines in order and others between them', () => {
    const lines = linesOf('a.b\nd…f\n')
    expect('x\na.b\nc\ndef\n').toMatch(lines)
    expect('a.b\ndf').toMatch(lines)
    expect('acb\ndef').not.toMatch(lines)
    expect('def\na.b').not.toMatch(lines)
    expect('a.b\nd\nf').not.toMatch(lines)
  })
})
