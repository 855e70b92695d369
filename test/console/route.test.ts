import { describe, expect, it } from 'vitest'
import { parseRoute, routeHash } from '../../console/route.js'

describe('routes of the console', () => {
  it.each([
    '#/sessions',
    '#/projects/prj_1/sessions',
    '#/projects/prj_1/sessions?status=paused&page=3',
    '#/projects/prj_1/actors/ses_1',
    '#/actors/act_1',
    '#/nodes',
    '#/projects/prj_1/nodes',
    '#/projects/prj_1/stuck',
    '#/projects/prj_1/skills',
  ])('come back as they were written: %s', (hash) => {
    expect(routeHash(parseRoute(hash))).toBe(hash)
  })

  it.each(['', '#', '#/', '#/nowhere', '#/projects', '#/actors', '#/sessions?status=odd&page=-1', '#/sessions?page=x'])(
    'lead to the list of sessions when they lead nowhere: %s',
    (hash) => {
      expect(parseRoute(hash)).toEqual({ view: 'sessions', project: null, status: '', page: 1 })
    },
  )

  it('keep ids whole whatever stands in them', () => {
    const route = { view: 'actor', project: 'a/b', id: 'ses_?#%' } as const
    expect(parseRoute(routeHash(route))).toEqual(route)
    expect(parseRoute('#/actors/%')).toEqual({ view: 'actor', project: null, id: '%' })
  })
})
