import { readFileSync, statSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { terminalAnimation } from '#scripts/picture/terminal-animation.ts'

describe('the animated quickstart', () => {
  it('shows the lines one after another, with XML escaped', () => {
    const svg = terminalAnimation([
      { text: '$ one', at: 0 },
      { text: '<two> & "three"', at: 30_000 },
    ])
    const [, first = '', second = ''] = /0%,([\d.]+)%\{opacity:0\}.*0%,([\d.]+)%\{opacity:0\}/.exec(svg) ?? []
    expect(Number(first)).toBeLessThan(Number(second))
    expect(Number(second)).toBeLessThan(30)
    expect(svg).toContain('&lt;two&gt; &amp; "three"')
  })

  it('in the README shows a whole turn, is small and has no secret', () => {
    const svg = readFileSync('docs/quickstart.svg', 'utf8')
    expect(statSync('docs/quickstart.svg').size).toBeLessThan(300_000)
    for (const line of ['npm run quickstart', 'turn.paused', '/approve', 'turn.completed', 'has run 1 time'])
      expect(svg).toContain(line)
    expect(svg).not.toMatch(/csk_\w/)
    expect(readFileSync('README.md', 'utf8')).toContain('(docs/quickstart.svg)')
  })
})
