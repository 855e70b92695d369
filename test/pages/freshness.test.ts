import { describe, expect, it } from 'vitest'
import { freshSince } from '#src/pages/freshness.ts'
import { sitemapOf } from '#src/pages/sitemap.ts'

const now = Date.UTC(2026, 2, 31, 12)

describe('a freshness window', () => {
  it.each([
    ['24h', '2026-03-30T12:00:00.000Z'],
    ['7d', '2026-03-24T12:00:00.000Z'],
    ['2w', '2026-03-17T12:00:00.000Z'],
    ['3m', '2025-12-31T12:00:00.000Z'],
    ['1y', '2025-03-31T12:00:00.000Z'],
    ['2026-01-02', '2026-01-02T00:00:00.000Z'],
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000Z'],
    ['7 days', null],
    ['d', null],
    ['-1d', null],
    ['2026-99-99', null],
  ])('of %s begins at %s', (text, since) => {
    const found = freshSince(text, now)
    expect(found === null ? null : new Date(found).toISOString()).toBe(since)
  })
})

describe('a sitemap', () => {
  it('lists at most 2,000 pages, or other sitemaps', () => {
    expect(
      sitemapOf(
        '<urlset><url><loc> https://a.example/?a=1&amp;b=2 </loc></url><url><loc><![CDATA[https://a.example/c]]></loc></url></urlset>',
      ),
    ).toEqual({
      isIndex: false,
      urls: ['https://a.example/?a=1&b=2', 'https://a.example/c'],
    })
    expect(
      sitemapOf('<sitemapindex><sitemap><loc>https://a.example/1.xml</loc></sitemap></sitemapindex>').isIndex,
    ).toBe(true)
    expect(sitemapOf('https://a.example/1\nnothing\nhttps://a.example/2').urls).toHaveLength(2)
    expect(sitemapOf(`<urlset>${'<url><loc>https://a.example/</loc></url>'.repeat(3_000)}`).urls).toHaveLength(2_000)
    expect(sitemapOf('<loc>https://a.example/').urls).toEqual([])
  })
})
