import { describe, expect, it } from 'vitest'
import { capabilitiesOf, visionModelOf } from '#gateway/prices/model-capabilities.ts'
import { priceAt, prices } from '#gateway/prices/prices.ts'
import { providers } from '#specs/data/providers.ts'

describe('what a model can do', () => {
  it('is told by provider and id, and is null for a model that nobody knows', () => {
    expect(capabilitiesOf('openai', 'gpt-4o-mini')).toContain('vision')
    expect(capabilitiesOf('openai', 'gpt-3.5-turbo')).not.toContain('vision')
    expect(capabilitiesOf('anthropic', 'gpt-4o-mini')).toBeNull()
    expect(capabilitiesOf('custom:1', 'x')).toBeNull()
  })
})

describe('the model that takes over when images meet one that cannot see', () => {
  const chosen = providers.flatMap(({ id }) => {
    const model = visionModelOf(id)
    return model === null ? [] : [[id, model] as const]
  })

  it.each(chosen)('sees, is priced and is not retired: %s %s', (provider, model) => {
    const row = priceAt(provider, model)
    expect(row?.capabilities).toContain('vision')
    expect((row?.retires ?? '9999') > prices.date).toBe(true)
  })

  it('is there for every provider that sells a chat model that sees', () => {
    const sees = prices.rows.filter(({ mode, capabilities }) => mode === 'chat' && capabilities.includes('vision'))
    expect([...new Set(sees.map(({ provider }) => provider))].filter((id) => visionModelOf(id) === null)).toEqual([])
  })

  it('is null for providers without one, and for names that are none', () => {
    expect(visionModelOf('deepgram')).toBeNull()
    expect(visionModelOf('constructor')).toBeNull()
  })
})
