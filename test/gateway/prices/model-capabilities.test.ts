import { describe, expect, it } from 'vitest'
import { capabilitiesOf, visionModelOf } from '#gateway/prices/model-capabilities.ts'
import { priceAt, prices } from '#gateway/prices/prices.ts'
import { providers } from '#specs/data/providers.ts'

describe('the capabilities of a model', () => {
  it('are found by provider and id, and null for an unknown model', () => {
    expect(capabilitiesOf('openai', 'gpt-4o-mini')).toContain('vision')
    expect(capabilitiesOf('openai', 'gpt-3.5-turbo')).not.toContain('vision')
    expect(capabilitiesOf('anthropic', 'gpt-4o-mini')).toBeNull()
    expect(capabilitiesOf('custom:1', 'x')).toBeNull()
  })
})

describe('the vision model that replaces a model without vision', () => {
  const chosen = providers.flatMap(({ id }) => {
    const model = visionModelOf(id)
    return model === null ? [] : [[id, model] as const]
  })

  it.each(chosen)('has vision and a price and is not retired: %s %s', (provider, model) => {
    const row = priceAt(provider, model)
    expect(row?.capabilities).toContain('vision')
    expect((row?.retires ?? '9999') > prices.date).toBe(true)
  })

  it('exists for every provider with a chat model that has vision, unless the project chose its models by name', () => {
    const chosen = new Set(providers.flatMap(({ id, byName }) => (byName === true ? [id] : [])))
    const sees = prices.rows.filter(({ mode, capabilities }) => mode === 'chat' && capabilities.includes('vision'))
    const sellers = [...new Set(sees.map(({ provider }) => provider))].filter((id) => !chosen.has(id))
    expect(sellers.filter((id) => visionModelOf(id) === null)).toEqual([])
  })

  it('is null for a provider without one and for an unknown name', () => {
    expect(visionModelOf('deepgram')).toBeNull()
    expect(visionModelOf('constructor')).toBeNull()
  })
})
