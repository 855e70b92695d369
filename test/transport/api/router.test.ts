import { describe, expect, it } from 'vitest'
import { Router } from '#transport/api/router.ts'

const router = new Router<string>()
for (const path of [
  '/v1/things',
  '/v1/things/{id}',
  '/v1/things/{id}/test',
  '/v1/things/oauth/callback',
  '/v1/things/{id}/parts/{part}',
  '/v1/things/{id}/parts/new',
]) {
  router.add('GET', path, { target: path })
}
router.add('POST', '/v1/things', { target: 'create' })
router.add('GET', '/v1/models/{model}', { target: '/v1/models/{model}', slashesInLast: true })
for (const path of ['/v1/models/{model}:read', '/v1/things/{id}:read'])
  router.add('GET', path, { target: path, slashesInLast: path.includes('models') })
router.add('GET', '/v1/models/{model}/tags', { target: '/v1/models/{model}/tags' })

const find = (path: string) => {
  const match = router.find(path)
  return match && [match.methods.get('GET'), ...match.params]
}

describe('a path', () => {
  it.each([
    ['/v1/things', ['/v1/things']],
    ['/v1/things/a', ['/v1/things/{id}', 'a']],
    ['/v1/things/oauth', ['/v1/things/{id}', 'oauth']],
    ['/v1/things/oauth/callback', ['/v1/things/oauth/callback']],
    ['/v1/things/oauth/test', ['/v1/things/{id}/test', 'oauth']],
    ['/v1/things/a/parts/b', ['/v1/things/{id}/parts/{part}', 'a', 'b']],
    ['/v1/things/a/parts/new', ['/v1/things/{id}/parts/new', 'a']],
    ['/v1/models/a', ['/v1/models/{model}', 'a']],
    ['/v1/models/a/b/c', ['/v1/models/{model}', 'a/b/c']],
    ['/v1/models/a%2Fb', ['/v1/models/{model}', 'a/b']],
    ['/v1/models/a:read', ['/v1/models/{model}:read', 'a']],
    ['/v1/models/a:b/c:read', ['/v1/models/{model}:read', 'a:b/c']],
    ['/v1/models/a:8b', ['/v1/models/{model}', 'a:8b']],
    ['/v1/models/:read', ['/v1/models/{model}', ':read']],
    ['/v1/things/a:read', ['/v1/things/{id}:read', 'a']],
    ['/v1/things/a:read/test', ['/v1/things/{id}/test', 'a:read']],
    ['/v1/models/a/tags', ['/v1/models/{model}/tags', 'a']],
    ['/v1/things/a%20b/parts/%C3%BC', ['/v1/things/{id}/parts/{part}', 'a b', 'ü']],
  ])('%s matches one route', (path, found) => {
    expect(find(path)).toEqual(found)
  })

  it.each([
    '',
    '/',
    '/v1',
    '/v1/things/',
    '/v1/things//test',
    '/v1/things/a/parts',
    'v1/things',
    '/v1/models/',
    '/v1/models/a/b/',
    '/v1/things/%E0%A4%A',
    '/__proto__',
  ])('%s matches no route', (path) => {
    expect(find(path)).toBeNull()
  })

  it('has all its methods in one entry', () => {
    expect([...(router.find('/v1/things')?.methods.keys() ?? [])]).toEqual(['GET', 'POST'])
  })

  it('cannot be declared twice for one method', () => {
    expect(() => router.add('POST', '/v1/things', { target: 'again' })).toThrow('POST /v1/things is declared twice')
  })
})
