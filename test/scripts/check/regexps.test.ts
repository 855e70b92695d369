import { describe, expect, it } from 'vitest'
import { regExpLiterals } from '#scripts/check/regexp-literals.ts'
import { regExpFindings } from '#scripts/check/regexps.ts'

const findingsIn = (text: string) => regExpFindings([{ path: 'src/planted.ts', text }]).map(({ line }) => line)

describe('the check of regular expressions', () => {
  it.each([
    ['two starts for one run', String.raw`const jwt = /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/`],
    ['an end that is looked for from everywhere', String.raw`text.replace(/\s+$/, '')`],
    ['nested repetition', 'return /^(?:a+)+$/.test(text)'],
    ['two ways to read one run', String.raw`/\s*\n?[\s\S]*?x/.exec(text)`],
  ])('finds %s', (_, text) => {
    expect(findingsIn(`// one\n${text}`)).toEqual([2])
  })

  it('finds a pattern built from a variable', () => {
    expect(findingsIn('const found = new RegExp(name).exec(text)')).toEqual([1])
  })

  it.each([
    String.raw`const origin = /^(?:null|[a-z][a-z0-9+.-]*:\/\/[\w.~%:[\]-]+)$/i`,
    String.raw`text.replace(/(?<!\/)\/+$/, '')`,
    String.raw`/(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}/.test(text)`,
  ])('accepts %s', (text) => {
    expect(findingsIn(text)).toEqual([])
  })

  it('reads literals where a RegExp is possible, and ignores divisions, strings, templates and comments', () => {
    const text = [
      'const half = total / 2 / 3',
      "const path = '/a/b/' // and /c/",
      'const url = `/x/y/`',
      String.raw`/* /z/ */ if (/[/]\/k/gi.test(path)) return /m/u`,
    ].join('\n')
    expect(regExpLiterals(text)).toEqual([
      { source: String.raw`[/]\/k`, flags: 'gi', line: 4 },
      { source: 'm', flags: 'u', line: 4 },
    ])
  })
})
