import { expect, it } from 'vitest'
import { needing, Skipped } from '#scripts/clients/client-check.ts'

const world = { folder: '', document: '', url: '', key: '' }

it('a check whose tool is not installed is skipped with the reason, and not made', () => {
  let made = 0
  const check = () => void made++
  expect(() => needing(['node', 'no-such-tool'], check)(world)).toThrow(new Skipped('it needs no-such-tool'))
  expect(made).toBe(0)
  needing(['node'], check)(world)
  expect(made).toBe(1)
})
