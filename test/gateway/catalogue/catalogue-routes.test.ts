import { describe, expect, it } from 'vitest'
import { operations } from '#actors/capabilities.ts'
import { catalogueUseCases } from '#gateway/catalogue/catalogue-use-cases.ts'
import { prices } from '#gateway/prices/prices.ts'
import { noted } from '#test/support/called-operations.ts'
import { serve } from '#test/transport/api/serving.ts'

const now = () => Date.parse(prices.date)
const declared = [operations['catalogue.models'], operations['catalogue.providers'], operations['catalogue.logo']]
const useCases = noted(catalogueUseCases({ table: prices, origin: null, now }))
const { send } = serve(declared, useCases)

const get = (target: string, headers: Readonly<Record<string, string>> = {}) => send({ target, as: 'nobody', headers })

const totalOf = async (target: string): Promise<unknown> => Object((await get(target)).json).total

describe('GET /api/models', () => {
  it('needs no credentials and allows shared caches and any origin', async () => {
    const { status, headers, json } = await get('/api/models', { origin: 'https://shop.example' })
    expect(status).toBe(200)
    expect(json).toMatchObject({ object: 'list', total: expect.any(Number) })
    expect(headers).toMatchObject({
      'cache-control': 'public, s-maxage=3600',
      'access-control-allow-origin': 'https://shop.example',
      vary: 'Origin',
    })
    expect(headers['access-control-allow-credentials']).toBeUndefined()
  })

  it('accepts a repeated or comma-separated capability', async () => {
    const both = await totalOf('/api/models?capability=vision,tools')
    expect(await totalOf('/api/models?capability=tools&capability=vision')).toBe(both)
    expect(both).toBeLessThan(Number(await totalOf('/api/models?capability=tools')))
  })

  it.each([
    ['type=frog', 'type'],
    ['type=', 'type'],
    ['type=chat&type=code', 'type'],
    ['capability=vision,frog', 'capability'],
    ['capability=', 'capability'],
    [`search=${'x'.repeat(300)}`, 'search'],
  ])('refuses ?%s and names the parameter', async (query, param) => {
    const { status, json } = await get(`/api/models?${query}`)
    expect({ status, json }).toMatchObject({ status: 400, json: { error: { code: 'invalid_query', param } } })
  })

  it('answers 304 for a matching ETag', async () => {
    const { headers } = await get('/api/models?type=code')
    expect(await get('/api/models?type=code', { 'if-none-match': headers.etag ?? '' })).toMatchObject({
      status: 304,
      text: '',
    })
  })
})

describe('GET /api/providers', () => {
  it('counts the models that GET /api/models lists for each provider', async () => {
    const { json } = await get('/api/providers')
    const { data, total } = Object(json)
    expect(data).toHaveLength(total)
    for (const { id, model_count } of data) {
      expect(await totalOf(`/api/models?provider=${id.toUpperCase()}`), id).toBe(model_count)
    }
  })

  it('has a logo for each provider', async () => {
    const { data } = Object((await get('/api/providers')).json)
    for (const { logo_url } of data) expect(await get(logo_url)).toMatchObject({ status: 200 })
  })
})

describe('GET /api/providers/{id}/logo', () => {
  it('sends an SVG with a policy that blocks scripts', async () => {
    const { status, headers, text } = await get('/api/providers/anthropic/logo')
    expect(status).toBe(200)
    expect(text).toContain('<svg')
    expect(headers).toMatchObject({
      'content-type': 'image/svg+xml',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
      'x-content-type-options': 'nosniff',
      'cache-control': 'public, s-maxage=3600',
    })
    expect(await get('/api/providers/anthropic/logo', { 'if-none-match': headers.etag ?? '' })).toMatchObject({
      status: 304,
    })
  })

  it.each(['nobody', '..%2F..%2Fproviders', 'constructor'])('answers 404 for %s', async (id) => {
    expect(await get(`/api/providers/${id}/logo`)).toMatchObject({
      status: 404,
      json: { error: { code: 'not_found' } },
    })
  })
})
