import { priceAt } from './prices.ts'

/** What a model can do, in the words of the catalogue (`vision`, `tools`, …); null for an unknown model. */
export const capabilitiesOf = (provider: string, model: string): readonly string[] | null =>
  priceAt(provider, model)?.capabilities ?? null

/**
 * The model that takes over when images meet a model of the same provider that cannot see: of those that see, a small
 * one of the provider's current line, since no more is needed. The test holds each to the snapshot: it sees, is
 * priced and is not retired.
 */
const visionModels: Readonly<Record<string, string>> = {
  openai: 'gpt-4o-mini',
  anthropic: 'claude-haiku-4-5',
  google: 'gemini-2.5-flash',
  groq: 'qwen/qwen3.8-27b',
  mistral: 'mistral-small-latest',
  deepseek: 'deepseek-v4-flash',
  xai: 'grok-4.3',
  cerebras: 'gemma-4-31b',
  together: 'zai-org/GLM-5.3-Flash',
  fireworks: 'accounts/fireworks/models/glm-5p3-flash',
  simulated: 'simulated-1',
}

/** The provider's model for images; null for providers that have none that we know. */
export const visionModelOf = (provider: string): string | null =>
  Object.hasOwn(visionModels, provider) ? (visionModels[provider] ?? null) : null
