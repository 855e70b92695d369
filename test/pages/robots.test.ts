import { describe, expect, it } from 'vitest'
import { allowsAll, robotsOf, unreachable } from '#src/pages/robots.ts'
import { cpuMs } from '#test/support/cpu-ms.ts'

const allows = (text: string, path: string, crawler = 'TroupeBot'): boolean =>
  robotsOf(text, crawler).allows(new URL(path, 'http://site.example'))

const group = (...rules: readonly string[]): string => ['User-agent: *', ...rules].join('\n')

describe('robots.txt', () => {
  it.each<readonly [why: string, text: string, path: string, allowed: boolean]>([
    ['an empty file', '', '/a', true],
    ['no rule that fits', group('Disallow: /b'), '/a', true],
    ['a rule', group('Disallow: /a'), '/a', false],
    ['a prefix', group('Disallow: /a'), '/abc/d', false],
    ['an empty disallow', group('Disallow:'), '/a', true],
    ['the whole site', group('Disallow: /'), '/a', false],
    ['the longest match', group('Disallow: /a', 'Allow: /a/b'), '/a/b/c', true],
    ['the longest match, whatever its place', group('Allow: /a/b', 'Disallow: /a'), '/a/b/c', true],
    ['of equal matches the one that allows', group('Disallow: /a', 'Allow: /a'), '/a', true],
    ['a wildcard', group('Disallow: /*.php'), '/x/y.php?z', false],
    ['a wildcard in the middle', group('Disallow: /a*c'), '/abbbc', false],
    ['an end', group('Disallow: /*.php$'), '/x.php', false],
    ['an end that does not match', group('Disallow: /*.php$'), '/x.php?a', true],
    ['the end of the root', group('Disallow: /$'), '/', false],
    ['the end of the root elsewhere', group('Disallow: /$'), '/a', true],
    ['wildcards that cost', group(`Disallow: /${'*a'.repeat(200)}$`), `/${'a'.repeat(4000)}b`, true],
    ['a dollar within', group('Disallow: /a$b'), '/a$b', false],
    ['a query', group('Disallow: /a?x='), '/a?x=1', false],
    ['an encoded path', group('Disallow: /%7Ejoe'), '/~joe/', false],
    ['a path that is encoded otherwise', group('Disallow: /~joe'), '/%7ejoe/', false],
    ['letters of other alphabets', group('Disallow: /ツ'), '/%E3%83%84', false],
    ['encoded letters of other alphabets', group('Disallow: /%e3%83%84'), '/ツ', false],
    ['an encoded slash, which is not a separator', group('Disallow: /a%2Fb'), '/a/b', true],
    ['the case of a path', group('Disallow: /A'), '/a', true],
    ['the case of a field', 'USER-AGENT: *\nDISALLOW: /a', '/a', false],
    ['blanks around', '  User-agent :  *  \n  Disallow :   /a   ', '/a', false],
    ['comments', 'User-agent: * # all\nDisallow: /a # here', '/a', false],
    ['lines of Macs', 'User-agent: *\rDisallow: /a', '/a', false],
    ['lines of Windows', 'User-agent: *\r\nDisallow: /a\r\n', '/a', false],
    ['a byte order mark', '\uFEFFUser-agent: *\nDisallow: /a', '/a', false],
    ['rules before any group', 'Disallow: /a\nUser-agent: *\nDisallow: /b', '/a', true],
    ['the crawler by its name', 'User-agent: TroupeBot\nDisallow: /a', '/a', false],
    ['the crawler by its name in other case', 'User-agent: troupebot\nDisallow: /a', '/a', false],
    ['the crawler with a version', 'User-agent: TroupeBot/1.0\nDisallow: /a', '/a', false],
    ['another crawler', 'User-agent: OtherBot\nDisallow: /a', '/a', true],
    ['a crawler whose name begins alike', 'User-agent: TroupeBotImage\nDisallow: /a', '/a', true],
    ['its own group instead of all', 'User-agent: *\nDisallow: /\nUser-agent: TroupeBot\nDisallow: /b', '/a', true],
    ['several names of a group', 'User-agent: A\nUser-agent: TroupeBot\nDisallow: /a', '/a', false],
    [
      'groups of one name together',
      'User-agent: TroupeBot\nDisallow: /a\nUser-agent: TroupeBot\nDisallow: /b',
      '/b',
      false,
    ],
    [
      'a field that is not known within a head',
      'User-agent: TroupeBot\nCrawl-delay: 1\nUser-agent: A\nDisallow: /a',
      '/a',
      false,
    ],
    ['a sitemap between names', 'User-agent: TroupeBot\nSitemap: /s.xml\nUser-agent: A\nDisallow: /a', '/a', false],
    ['its own file', group('Disallow: /'), '/robots.txt', true],
    ['a page of HTML instead of rules', '<html><body>Disallow: /a</body></html>', '/a', true],
  ])('is applied correctly to %s', (_why, text, path, allowed) => {
    expect(allows(text, path)).toBe(allowed)
  })

  it('lists the sitemaps of all groups', () => {
    const text = 'Sitemap: https://a.example/1.xml\nUser-agent: *\nDisallow: /\nSitemap: https://a.example/2.xml'
    expect(robotsOf(text, 'x').sitemaps).toEqual(['https://a.example/1.xml', 'https://a.example/2.xml'])
  })

  it('allows everything if there is no file, and only itself if the server fails', () => {
    const page = new URL('http://site.example/a')
    expect([allowsAll.allows(page), unreachable.allows(page)]).toEqual([true, false])
    expect(unreachable.allows(new URL('http://site.example/robots.txt'))).toBe(true)
  })

  it('is evaluated with 10,000 wildcard rules in less than a second of CPU', () => {
    const rules = Array.from({ length: 10_000 }, (_, n) => `Disallow: /*${n}*a*b*c$`)
    const from = cpuMs()
    expect(allows(group(...rules), `/${'a'.repeat(60)}`)).toBe(true)
    expect(cpuMs() - from).toBeLessThan(1_000)
  })

  it('is parsed and evaluated within two seconds of CPU time, even if it is hostile', () => {
    const names = Array.from(
      { length: 15_000 },
      (_, n) => `User-agent: ${n.toString(2).replaceAll('0', 'a').replaceAll('1', 'b')}`,
    )
    const many = [...names, ...Array.from({ length: 15_000 }, () => 'Allow: /')].join('\n')
    const costly = group(...Array.from({ length: 10_000 }, () => `Disallow: /*${'a'.repeat(20)}b`))
    const long = group(`Disallow: /${'*a'.repeat(200_000)}`)
    const from = process.cpuUsage()
    expect(allows(many, '/x')).toBe(true)
    expect(allows(long, `/${'a'.repeat(4_000)}`)).toBe(false)
    expect(allows(costly, `/${'a'.repeat(4_000)}`)).toBe(false)
    expect(allows(costly, '/a/usual/path')).toBe(true)
    const { user, system } = process.cpuUsage(from)
    expect(user + system).toBeLessThan(2_000_000)
  })
})
