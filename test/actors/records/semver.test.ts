import { expect, it } from 'vitest'
import { compareVersions, newestOf } from '#records/semver.ts'

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
