import { describe, expect, it } from 'vitest'
import { decodedPage } from '#src/pages/charset.ts'
import { pageTypeOf } from '#src/pages/content-type.ts'
import { normalUrl, pageUrlOf } from '#src/pages/page-url.ts'

const bytes = (...parts: readonly (string | readonly number[])[]): Uint8Array =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))))
const utf16 = (text: string): Uint8Array => Buffer.from(text, 'utf16le')
const swapped = (text: string): Uint8Array => Buffer.from(text, 'utf16le').swap16()

const sjis = [0x93, 0xfa, 0x96, 0x7b]
const eucJp = [0xc6, 0xfc, 0xcb, 0xdc]
const gbk = [0xd6, 0xd0, 0xce, 0xc4]
const big5 = [0xa4, 0xa4, 0xa4, 0xe5]
const eucKr = [0xc7, 0xd1, 0xb1, 0xb9]
const cp1251 = [0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2]
const koi8 = [0xf0, 0xd2, 0xc9, 0xd7, 0xc5, 0xd4]
const latin1 = [0x63, 0x61, 0x66, 0xe9]

describe('the decoded text of a page', () => {
  it.each<readonly [why: string, header: string | null, page: Uint8Array, said: string, charset: string]>([
    ['UTF-8 of the header', 'text/html; charset=utf-8', bytes('<p>café'), 'café', 'utf-8'],
    ['a charset in quotes', 'text/html; charset="UTF-8"', bytes('<p>café'), 'café', 'utf-8'],
    [
      'a charset in other case after other parameters',
      'text/html; a=b; CHARSET=Utf-8',
      bytes('<p>café'),
      'café',
      'utf-8',
    ],
    ['Latin-1, which is windows-1252', 'text/html; charset=iso-8859-1', bytes(latin1, [0x80]), 'café€', 'windows-1252'],
    ['Shift_JIS of the header', 'text/html; charset=Shift_JIS', bytes('<p>', sjis), '日本', 'shift_jis'],
    ['EUC-JP of the page', 'text/html', bytes('<meta charset=euc-jp><p>', eucJp), '日本', 'euc-jp'],
    ['GBK of the page', 'text/html', bytes('<meta charset="gbk"><p>', gbk), '中文', 'gbk'],
    ['GB2312, which is GBK', 'text/html; charset=gb2312', bytes(gbk), '中文', 'gbk'],
    [
      'Big5 of an old meta',
      'text/html',
      bytes('<meta http-equiv="Content-Type" content="text/html; charset=big5">', big5),
      '中文',
      'big5',
    ],
    ['EUC-KR', 'text/html; charset=euc-kr', bytes(eucKr), '한국', 'euc-kr'],
    ['windows-1251', 'text/html; charset=windows-1251', bytes(cp1251), 'Привет', 'windows-1251'],
    ['KOI8-R', 'text/plain; charset=koi8-r', bytes(koi8), 'Привет', 'koi8-r'],
    [
      'UTF-8 with an invalid byte',
      'text/html',
      bytes('<html lang="pl"><meta charset="utf-8"><p>zażółć gęślą jaźń ó ł', [0xff], '</p>'),
      'zażółć gęślą jaźń ó ł\ufffd',
      'utf-8',
    ],
    [
      'a declaration of XML',
      'application/xml',
      bytes('<?xml version="1.0" encoding="iso-8859-1"?><a>', latin1),
      'café',
      'windows-1252',
    ],
    [
      'a mark before all else',
      'text/html; charset=windows-1252',
      bytes([0xef, 0xbb, 0xbf], '<p>café'),
      'café',
      'utf-8',
    ],
    ['UTF-16 with its mark', 'text/html', bytes([0xff, 0xfe], [...utf16('<p>café 日本')]), 'café 日本', 'utf-16le'],
    ['UTF-16 the other way round', 'text/html', bytes([0xfe, 0xff], [...swapped('<p>café')]), 'café', 'utf-16be'],
    ['UTF-16 without a mark', 'text/html', utf16('<html><p>hello there</p></html>'), 'hello there', 'utf-16le'],
    ['a meta that says UTF-16 in ASCII', 'text/html', bytes('<meta charset=utf-16><p>café'), 'café', 'utf-8'],
    ['undeclared UTF-8', 'text/html', bytes('<p>café'), 'café', 'utf-8'],
    ['undeclared Latin-1', 'text/html', bytes('<p>', latin1), 'café', 'windows-1252'],
    ['an undeclared encoding of Russian', 'text/html', bytes('<html lang="ru"><p>', cp1251), 'Привет', 'windows-1251'],
    ['an undeclared encoding of Japanese', 'text/html', bytes('<html lang=ja><p>', sjis), '日本', 'shift_jis'],
    ['an undeclared encoding of Korean', 'text/html', bytes('<html lang="ko-KR"><p>', eucKr), '한국', 'euc-kr'],
    [
      'an undeclared encoding of traditional Chinese',
      'text/html',
      bytes('<html lang="zh-TW"><p>', big5),
      '中文',
      'big5',
    ],
    [
      'a header that wrongly declares UTF-8',
      'text/html; charset=utf-8',
      bytes('<meta charset=windows-1251><p>', cp1251),
      'Привет',
      'windows-1251',
    ],
    ['a header that names no encoding', 'text/html; charset=none-such', bytes('<p>café'), 'café', 'utf-8'],
    ['an encoding that is not decoded', 'text/html; charset=x-user-defined', bytes('<p>café'), 'café', 'utf-8'],
    ['a meta in a comment', 'text/html', bytes('<!-- <meta charset=big5> --><p>café'), 'café', 'utf-8'],
    ['JSON, which is UTF-8', 'application/json', bytes('{"a":"café"}'), 'café', 'utf-8'],
    ['bytes that are of no encoding', 'text/html; charset=utf-8', bytes('<p>ok ', [0xff, 0x81]), 'ok ', 'utf-8'],
  ])('is correct for %s', (_why, header, page, said, charset) => {
    const type = pageTypeOf(header, page)
    const decoded = type === null ? null : decodedPage(page, type)
    expect(decoded?.text).toContain(said)
    if (_why !== 'bytes that are of no encoding') expect(decoded?.charset).toBe(charset)
  })
})

describe('the type of a page', () => {
  it.each<readonly [header: string | null, page: Uint8Array, mimeType: string | null]>([
    ['text/html', bytes('<p>'), 'text/html'],
    ['TEXT/HTML; charset=x', bytes('<p>'), 'text/html'],
    ['application/xhtml+xml', bytes('<p>'), 'application/xhtml+xml'],
    ['application/ld+json', bytes('{}'), 'application/ld+json'],
    ['application/problem+json', bytes('{}'), 'application/problem+json'],
    ['application/rss+xml', bytes('<rss/>'), 'application/rss+xml'],
    ['text/markdown', bytes('# a'), 'text/markdown'],
    ['text/plain', bytes('<html>'), 'text/plain'],
    ['application/pdf', bytes('%PDF-1.7'), 'application/pdf'],
    [null, bytes('  <!DOCTYPE html><p>'), 'text/html'],
    [null, bytes('<?xml version="1.0"?>'), 'application/xml'],
    [null, bytes('{"a":1}'), 'application/json'],
    [null, bytes('hello'), 'text/plain'],
    ['nonsense', bytes('<html>'), 'text/html'],
    ['application/octet-stream', bytes('%PDF-1.7'), 'application/pdf'],
    ['text/html', bytes('%PDF-1.7'), null],
    ['text/html', bytes([0x89], 'PNG\r\n', [0x1a, 0x0a]), null],
    ['text/plain', bytes('PK', [3, 4]), null],
    ['application/json', bytes([0x1f, 0x8b, 8]), null],
    ['text/html', bytes([0x7f], 'ELF'), null],
    ['text/plain', bytes('a', [0, 1, 2, 3]), null],
    ['application/pdf', bytes('<html>'), null],
    [null, bytes([0xff, 0xd8, 0xff]), null],
    ['image/png', bytes('<html>'), null],
    ['image/svg+xml', bytes('<svg/>'), null],
    ['video/mp4', bytes('x'), null],
    ['application/zip', bytes('x'), null],
    ['text/css', bytes('a{}'), null],
    ['multipart/mixed', bytes('x'), null],
  ])('is derived from the header %s and the first bytes (%#)', (header, page, mimeType) => {
    expect(pageTypeOf(header, page)?.mimeType ?? null).toBe(mimeType)
  })
})

describe('the URL of a page', () => {
  it.each([
    ['http://a.example/#b', 'http://a.example/'],
    ['HTTP://A.Example:80/x', 'http://a.example/x'],
    ['ftp://a.example/', 'protocol'],
    ['file:///etc/passwd', 'protocol'],
    ['gopher://a.example/', 'protocol'],
    ['javascript:alert(1)', 'protocol'],
    ['data:text/html,x', 'protocol'],
    ['//a.example', 'malformed'],
    ['a.example', 'malformed'],
    ['http://', 'malformed'],
    ['http://u@a.example/', 'credentials'],
    ['http://u:p@a.example/', 'credentials'],
    ['http://a.example:22/', 'port'],
    ['http://a.example:6379/', 'port'],
    ['http://a.example:25/', 'port'],
    ['http://a.example:8080/', 'http://a.example:8080/'],
  ])('is parsed from %s as %s', (text, expected) => {
    const url = pageUrlOf(text)
    expect(typeof url === 'string' ? url : url.href).toBe(expected)
  })

  it.each([
    ['http://a.example/?utm_source=x&b=1&a=2', 'http://a.example/?a=2&b=1'],
    ['http://a.example/index.html', 'http://a.example/'],
    ['http://a.example//b//c', 'http://a.example/b/c'],
    ['http://a.example./b?fbclid=1', 'http://a.example/b'],
  ])('is normalized from %s to %s', (text, expected) => {
    expect(normalUrl(new URL(text))).toBe(expected)
  })
})
