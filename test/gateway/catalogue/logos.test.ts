import { describe, expect, it } from 'vitest'
import { logoOf } from '#gateway/catalogue/logos.ts'
import { providers } from '#specs/data/providers.ts'

const textOf = async (id: string): Promise<string> => String((await logoOf(id))?.bytes ?? '')

describe.each(providers.map(({ id }) => id))('the logo of %s', (id) => {
  it('is an SVG without scripts, external references or inherited colours', async () => {
    const svg = await textOf(id)
    expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" viewBox="0 0 32 32"[\s\S]*<\/svg>\n$/)
    expect(svg).not.toMatch(/<script|foreignObject|\son\w+=|javascript:|currentColor|<style|<image|<use/i)
    expect(svg.replace('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:|url\((?!#)/)
    expect(Buffer.byteLength(svg)).toBeLessThan(8192)
  })
})

describe('a logo', () => {
  it('is null for unknown provider ids', () => {
    expect(['nobody', '', '..', '../providers', 'constructor'].map(logoOf)).toEqual([null, null, null, null, null])
  })

  it('is read once, and found by its id in any case', () => {
    expect(logoOf('OpenAI')).toBe(logoOf('openai'))
  })
})
