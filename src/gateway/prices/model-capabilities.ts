import { priceAt } from './prices.ts'

/**
 * Returns the capabilities of a model by their names in the catalogue (`vision`, `tools`, …); null for an unknown
 * model.
 */
export const capabilitiesOf = (provider: string, model: string): readonly string[] | null =>
  priceAt(provider, model)?.capabilities ?? null

/**
 * Model of each provider that replaces a model without vision when a request contains images: a small one of the
 * provider's current models with vision. A test checks each against the snapshot: it has vision and a price, and is not
 * retired. Providers that serve models only by name have none: their models are those that a project deployed.
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

/** Returns the provider's model for images; null when no such model is known. */
export const visionModelOf = (provider: string): string | null =>
  Object.hasOwn(visionModels, provider) ? (visionModels[provider] ?? null) : null
