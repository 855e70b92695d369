import type { Route } from '#gateway/call/routes.ts'
import { type AnthropicModel, anthropicModel } from '../anthropic/anthropic-model.ts'

/** A model as Anthropic's format knows it. */
export interface PlainModel {
  readonly id: string
  readonly model: AnthropicModel
}

/** Whether a model is one of Anthropic's, by its id or that of a profile. */
export const isClaude = (id: string): boolean => /(?:^|[./])anthropic\./.test(id)

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
