import type { Route } from '#gateway/call/routes.ts'
import { type AnthropicModel, anthropicModel } from '../anthropic/anthropic-model.ts'

/** A model as Anthropic's format knows it. */
export interface PlainModel {
  readonly id: string
  readonly model: AnthropicModel
}

/** Whether a model is one of Anthropic's, by its id or that of a profile. */
export const isClaude = (id: string): boolean => /(?:^|[./])anthropic\./.test(id)

/** Whether a route serves one of Anthropic's models by their own API. */
export const invokesClaude = ({ format, settings, model }: Route): boolean =>
  format === 'bedrock' && settings?.api === 'invoke' && isClaude(model)

const knownBetas: ReadonlySet<string> = new Set([
  ...['compact-2026-01-12', 'computer-use-2024-10-22', 'computer-use-2025-01-24', 'computer-use-2025-11-24'],
  ...['context-1m-2025-08-07', 'context-management-2025-06-27', 'dev-full-thinking-2025-05-14', 'effort-2025-11-24'],
  ...['fine-grained-tool-streaming-2025-05-14', 'interleaved-thinking-2025-05-14', 'output-128k-2025-02-19'],
  ...['token-efficient-tools-2025-02-19', 'tool-examples-2025-10-29', 'tool-search-tool-2025-10-19'],
])

/** Whether Bedrock has a beta feature of Anthropic's API: it refuses requests that name another, as those of coding tools do. */
export const isKnownBeta = (name: string): boolean => knownBetas.has(name)

/** What Anthropic's format has to know of a model here. Only Claude models have structured outputs. */
export const plainModel = ({ model: named }: Pick<Route, 'model'>): PlainModel => {
  const id = plainId(named)
  const known = anthropicModel(id)
  const { maxOutput } = anthropicModel(`bedrock/${named}`)
  const structured = known.structured && isClaude(named)
  return { id, model: { ...known, ...(maxOutput !== null && { maxOutput }), structured } }
}

/** The name of a Claude model without the vendor, the group of regions and the revision; other ids are unchanged. */
const plainId = (id: string): string =>
  isClaude(id) ? id.replace(/^.*anthropic\./, '').replace(/-v\d+(?::\d+)?$/, '') : id
