import { expect, it } from 'vitest'
import { costOfUnits, priceAt } from '#gateway/prices/prices.ts'
import { itemTokens, responseUsage } from '#gateway/realtime/relay/realtime-usage.ts'

it('images of a realtime session are charged at their own prices, uncached and cached', () => {
  const usage = {
    ...{ input_tokens: 1_000, output_tokens: 234, output_token_details: { text_tokens: 34, audio_tokens: 200 } },
    input_token_details: {
      ...{ text_tokens: 300, audio_tokens: 600, image_tokens: 100, cached_tokens: 424 },
      cached_tokens_details: { text_tokens: 128, audio_tokens: 256, image_tokens: 40 },
    },
  }
  const tokens = responseUsage(usage)
  expect(tokens).toMatchObject({ imageInputTokens: 100, imageCachedTokens: 40 })
  expect(tokens && costOfUnits(priceAt('openai', 'gpt-realtime'), { tokens })).toBe('0.0255136')
})

it('an image that a client sends is expected to have tokens of an image, not of its base64', () => {
  const image_url = `data:image/png;base64,${'A'.repeat(900_000)}`
  const item = { type: 'message', role: 'user', content: [{ type: 'input_image', image_url }] }
  expect(itemTokens(item, JSON.stringify({ type: 'conversation.item.create', item }).length)).toBeLessThan(2_200)
  expect(itemTokens({ content: [{ type: 'input_text', text: 'x'.repeat(4_000) }] }, 4_000)).toBeGreaterThan(900)
})
