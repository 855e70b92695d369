import { readFileSync, statSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { terminalAnimation } from '#scripts/picture/terminal-animation.ts'

describe('the picture on top of the README', () => {
  const picture = readFileSync('docs/turn.webp')
  /** The frames: an ANMF chunk each, whose milliseconds are behind its place and size. */
  const durations: number[] = []
  for (let at = 12; at < picture.length; at += 8 + picture.readUInt32LE(at + 4) + (picture.readUInt32LE(at + 4) % 2))
    if (picture.toString('latin1', at, at + 4) === 'ANMF') durations.push(picture.readUIntLE(at + 8 + 12, 3))

  it('shows about twenty seconds of a turn, crisp at 880 px, in at most 1.5 MB', () => {
    const [first = ''] = readFileSync('README.md', 'utf8').match(/!\[[^\]]*\]\([^)]*\)/) ?? []
    expect(first).toMatch(/killed.*resumes.*approves.*\(docs\/turn\.webp\)$/)
    expect(picture.length).toBeLessThan(1_500_000)
    expect(picture.toString('latin1', 12, 16)).toBe('VP8X')
    expect(picture.readUIntLE(24, 3) + 1).toBe(2 * 880)
    expect(durations.length).toBeGreaterThan(40)
    const seconds = durations.reduce((sum, ms) => sum + ms, 0) / 1000
    expect(seconds).toBeGreaterThan(12)
    expect(seconds).toBeLessThan(30)
  })
})

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
