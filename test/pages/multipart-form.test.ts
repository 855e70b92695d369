import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ServiceError } from '#specs/errors/errors.ts'
import { atOnce } from '#src/concurrency/run-in-slices.ts'
import { boundaryOf, parseForm } from '#src/pages/multipart-form.ts'

const part = (head: string, content: string) => `--b\r\n${head}\r\n\r\n${content}\r\n`
const parse = (text: string | Buffer) => atOnce(parseForm(Buffer.from(text), 'b'))

describe('a boundary', () => {
  it.each([
    ['multipart/form-data; boundary=abc', 'abc'],
    ['Multipart/Form-Data; charset=utf-8; boundary="a b"', 'a b'],
    ['multipart/form-data', null],
    ['multipart/mixed; boundary=abc', null],
    [undefined, null],
  ])('is read from %s', (contentType, boundary) => {
    expect(boundaryOf(contentType)).toBe(boundary)
  })
})

describe('a form', () => {
  it('returns its bytes unchanged', () => {
    const content = fc.uint8Array({ maxLength: 200 }).filter((bytes) => !Buffer.from(bytes).includes('\r\n--b'))
    fc.assert(
      fc.property(fc.array(content, { maxLength: 4 }), (contents) => {
        const parts = contents.flatMap((bytes, at) => [
          Buffer.from(`--b\r\ncontent-disposition: form-data; name="f${at}"; filename="x"\r\n\r\n`),
          Buffer.from(bytes),
          Buffer.from('\r\n'),
        ])
        const { files } = parse(Buffer.concat([...parts, Buffer.from('--b--')]))
        expect(files.map(({ bytes }) => [...bytes])).toEqual(contents.map((bytes) => [...bytes]))
      }),
    )
  })

  it('is found at every place where a step of the search may end', () => {
    const head = '--b\r\ncontent-disposition: form-data; name="f"; filename="x"\r\n\r\n'
    for (let length = 256 * 1024 - 70; length < 256 * 1024 + 5; length++) {
      const { files } = parse(
        Buffer.concat([Buffer.from(head), Buffer.alloc(length, '\r\n--'), Buffer.from('\r\n--b--')]),
      )
      expect(files[0]?.bytes.length).toBe(length)
    }
  })

  it('may start with a preamble', () => {
    const { fields } = parse(`preamble\r\n${part('Content-Disposition: form-data; name="a"', '1')}--b--\r\nepilogue`)
    expect(fields).toEqual([['a', '1']])
  })

  it('has file names as browsers write them', () => {
    const { files } = parse(`${part('content-disposition: form-data; name="a"; filename="a %22b%22 ü.txt"', '')}--b--`)
    expect(files[0]).toMatchObject({ filename: 'a "b" ü.txt', contentType: 'application/octet-stream' })
  })

  it.each([
    ['without quotes', 'form-data; name=a; filename=b.wav', 'b.wav'],
    ['in both forms', 'form-data; name=a; filename="=?utf-8?B?w7w=?="; filename*=utf-8\'\'%C3%BC.wav', 'ü.wav'],
    ['in the extended form alone', 'form-data; name="a"; filename*=UTF-8\'de\'%C3%BC%20b.wav', 'ü b.wav'],
    ['in an invalid extended form', 'form-data; name="a"; filename="b.wav"; filename*=utf-8\'\'%zz', 'b.wav'],
    ['with escaped quotes', String.raw`form-data; name="a"; filename="a \"b\".wav"`, 'a "b".wav'],
    ['that end like one', String.raw`form-data; name="a"; filename="b\"`, 'b\\'],
    ['that look like a field', 'form-data; filename="x; name=b; filename=c"; name="a"', 'x; name=b; filename=c'],
    ['empty', 'form-data; name="a"; filename=""', ''],
  ])('has file names as other clients write them: %s', (_, disposition, filename) => {
    const { files, fields } = parse(`${part(`content-disposition: ${disposition}`, 'x')}--b--`)
    expect(files).toMatchObject([{ field: 'a', filename }])
    expect(fields).toEqual([])
  })

  it('does not accept a file name as the name of a field', () => {
    expect(() => parse(`${part('content-disposition: form-data; filename="a"', '')}--b--`)).toThrow(ServiceError)
  })

  it.each([
    ['nothing', ''],
    ['no boundary', 'some text that goes on for a while'],
    ['no final boundary', part('content-disposition: form-data; name="a"', '1')],
    ['a part without a name', `${part('content-type: text/plain', '1')}--b--`],
    ['a part without an end of its headers', '--b\r\ncontent-disposition: form-data; name="a"\r\n--b--'],
    ['a name that is too long', `${part(`content-disposition: form-data; name="${'\\"'.repeat(9000)}"`, '')}--b--`],
    ['too many parts', `${part('content-disposition: form-data; name="a"', '').repeat(129)}--b--`],
  ])('is refused with %s', (_, text) => {
    expect(() => parse(text)).toThrow(ServiceError)
  })

  it('fails with nothing but a ServiceError for any input', () => {
    const piece = fc.constantFrom(
      '--b',
      '--',
      '\r\n',
      '\r\n\r\n',
      'content-disposition: form-data; name="a"',
      'x',
      '"',
      ';',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        try {
          parse(pieces.join(''))
        } catch (error) {
          expect(error).toBeInstanceOf(ServiceError)
        }
      }),
      { numRuns: 1000 },
    )
  })
})
