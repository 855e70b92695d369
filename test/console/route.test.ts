import { describe, expect, it } from 'vitest'
import { hashAt, listHash, newResource, parseRoute, routeHash } from '../../console/route.ts'
import { viewHash } from '../../console/views.ts'

describe('routes of the console', () => {
  it.each([
    '#/home',
    '#/projects/prj_1/home',
    '#/projects/prj_1/list/session?state=paused&tenant=ten_1&agent=agt_1&from=2026-01-01&to=2026-02-01&after=abc',
    '#/projects/prj_1/list?error=provider_error',
    '#/projects/prj_1/list?tool=issue_refund',
    '#/projects/prj_1/list/run?error=provider_error',
    '#/projects/prj_1/actors/ses_1',
    '#/projects/prj_1/actors/ses_1?step=12',
    '#/actors/act_1',
    '#/nodes',
    '#/projects/prj_1/fleet',
    '#/projects/prj_1/stuck',
    '#/projects/prj_1/skills',
    '#/projects/prj_1/gateway?by=tenant&request=req_1',
    '#/projects/prj_1/memory?user=u%2F1&q=what+now%3F',
  ])('are parsed and written back unchanged: %s', (hash) => {
    expect(routeHash(parseRoute(hash))).toBe(hash)
  })

  it.each(['', '#', '#/', '#/projects'])('lead home without a page: %s', (hash) => {
    expect(parseRoute(hash)).toEqual({ view: 'home', project: null })
  })

  it.each(['#/nowhere', '#/actors'])('say of an unknown page that it does not exist: %s', (hash) => {
    expect(parseRoute(hash)).toEqual({ view: 'missing', project: null })
  })

  it('lead from the legacy path to sessions', () => {
    expect(parseRoute('#/sessions')).toMatchObject({ view: 'list', machine: 'session', query: {} })
    expect(listHash({ project: 'prj_1' })).toBe('#/projects/prj_1/list/session')
  })

  it('change some query values, drop empty ones and the position, and keep the place', () => {
    const place = { view: 'gateway', project: 'prj_1', query: { by: 'model', after: 'x' } } as const
    expect(hashAt(place, { by: 'key', after: '' })).toBe('#/projects/prj_1/gateway?by=key')
  })

  it.each([
    ['resources/memory', '#/projects/prj_1/memory?user=ada&view=viw_1'],
    ['resources/mcp_servers', '#/projects/prj_1/tools?user=ada&view=viw_1'],
    ['resources/agents', '#/projects/prj_1/resources?kind=agents&user=ada&view=viw_1'],
    ['audit', '#/projects/prj_1/audit?user=ada&view=viw_1'],
    ['gateway', '#/projects/prj_1/gateway?user=ada&view=viw_1'],
    ['list/all', '#/projects/prj_1/list?user=ada&view=viw_1'],
  ])('lead from a view of %s to the page that the navigation names', (page, hash) => {
    const times = { created_at: '', updated_at: '' }
    const shown = { filters: { user: 'ada' }, columns: [], order: null, is_default: false }
    expect(viewHash('prj_1', { id: 'viw_1', name: 'Ada', page, ...shown, ...times })).toBe(hash)
  })

  it('lead to the form for a new resource on the page that the navigation names', () => {
    expect(newResource('prj_1', 'knowledge_bases')).toBe('#/projects/prj_1/knowledge?new=yes')
    expect(newResource('prj_1', 'agents')).toBe('#/projects/prj_1/resources?kind=agents&new=yes')
  })

  it('keep ids with any characters', () => {
    const route = { view: 'actor', project: 'a/b', id: 'ses_?#%' } as const
    expect(parseRoute(routeHash(route))).toEqual(route)
    expect(parseRoute('#/actors/%')).toEqual({ view: 'actor', project: null, id: '%' })
  })
})
