import { expect, it } from 'vitest'
import { requestedScopes } from '#actors/connections/discovery/requested-scopes.ts'

const server = { issuer: 'https://as.example', scopes: ['listed'], offersOffline: false }
const context = { scopes: [], provided: {}, missing_scopes: [] }
const known = { context, config: {}, challenge: null }

it('scopes are those that the refusal of a request names, else those that the resource lists, else none', () => {
  const challenge = { resource_metadata: null, scopes: ['basic'] }
  expect(requestedScopes(server, { ...known, challenge })).toEqual(['basic'])
  expect(requestedScopes(server, known)).toEqual(['listed'])
  expect(requestedScopes({ ...server, scopes: [] }, known)).toEqual([])
})

it('scopes add to the configured ones and to those of the previous sign-in at the same issuer', () => {
  const before = { scopes: ['old', 'write'], missing_scopes: ['write'], provided: { issuer: server.issuer } }
  const challenge = { resource_metadata: null, scopes: ['basic'] }
  const all = { context: before, config: { scopes: ['always'] }, challenge }
  expect(requestedScopes(server, all)).toEqual(['always', 'old', 'write', 'basic'])
  const moved = { ...before, provided: { issuer: 'https://other.example' } }
  expect(requestedScopes(server, { ...all, context: moved })).toEqual(['always', 'write', 'basic'])
})

it('offline_access is requested where the server offers it, beside other scopes', () => {
  const offers = { ...server, offersOffline: true }
  expect(requestedScopes(offers, known)).toEqual(['listed', 'offline_access'])
  expect(requestedScopes({ ...offers, scopes: [] }, known)).toEqual([])
})
