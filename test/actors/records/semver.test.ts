import fc from 'fast-check'
import { expect, it } from 'vitest'
import { compareVersions, newestOf } from '#records/semver.ts'
import { semverPattern } from '#specs/dsl/rule-words.ts'

/** The example order of semver.org, and versions around it. */
const ascending = [
  '0.9.10',
  '1.0.0-alpha',
  '1.0.0-alpha.1',
  '1.0.0-alpha.beta',
  '1.0.0-beta',
  '1.0.0-beta.2',
  '1.0.0-beta.11',
  '1.0.0-rc.1',
  '1.0.0',
  '1.2.0',
  '1.10.0',
  '2.0.0',
]

it('orders versions according to semantic versioning', () => {
  for (const [at, one] of ascending.entries()) {
    for (const [beside, other] of ascending.entries()) {
      expect(Math.sign(compareVersions(one, other)), `${one} and ${other}`).toBe(Math.sign(at - beside))
    }
  }
})

it('ignores build metadata', () => {
  expect(compareVersions('1.0.0+one', '1.0.0+two')).toBe(0)
  expect(compareVersions('1.0.0-rc.1+two', '1.0.0')).toBeLessThan(0)
})

it('considers a prerelease the newest only if there is no release', () => {
  expect(newestOf(ascending)).toBe('2.0.0')
  expect(newestOf(['1.0.0', '2.0.0-rc.1'])).toBe('1.0.0')
  expect(newestOf(['2.0.0-rc.1', '2.0.0-rc.2'])).toBe('2.0.0-rc.2')
  expect(newestOf([])).toBeUndefined()
})

it('orders versions with numbers of any length', () => {
  const long = '9'.repeat(100)
  expect(newestOf(['2.0.0', `${long}.0.0`, '10.0.0'])).toBe(`${long}.0.0`)
  expect(compareVersions(`1.${long}.0`, `1.${long}.1`)).toBeLessThan(0)
  expect(compareVersions(`1.0.0-${long}`, `1.0.0-${long}.a`)).toBeLessThan(0)
})

it('orders any pair of versions that the API accepts', () => {
  const version = fc.stringMatching(new RegExp(semverPattern))
  fc.assert(
    fc.property(version, version, (a, b) => {
      expect(Math.sign(compareVersions(a, b))).toBe(-Math.sign(compareVersions(b, a)) + 0)
    }),
  )
})
