import { expect, it } from 'vitest'
import { Viewers } from '#actors/browser/engine/live/viewers.ts'
import { maxViewers } from '#specs/resources/web/browse-limits.ts'

it('admits 50 viewers of a page, whether or not they wait for a frame, and another once one has left or ended', () => {
  let now = 0
  const viewers = new Viewers(() => now)
  const names = Array.from({ length: maxViewers }, (_, index) => `viewer ${index}`)
  for (const name of names) viewers.take(name)
  expect(() => viewers.take('late')).toThrow('Too many requests')
  viewers.leave('viewer 7')
  viewers.take('late')
  expect(() => viewers.take('viewer 7')).toThrow('Too many requests')
  now = 10_000
  for (const name of names.slice(10)) if (name !== 'viewer 11' && name !== 'viewer 7') viewers.take(name)
  now = 20_000
  viewers.take('viewer 7')
})
